package io.holdfast.fs.mount;

import io.holdfast.fs.FsException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts, by node, the replies that show the node under a name and are still on their way to the
 * kernel. A name may be parted from a node only when there are none: a late reply would lead to the
 * old node for as long as the kernel believes it, or give the old attributes to the new inode.
 *
 * <p>Thread-safe; the monitor guards the counts.
 */
public final class Exposures {
  private static final long LONGEST_MILLIS = Duration.ofSeconds(2).toMillis();

  private final Map<Long, Integer> counts = new HashMap<>();

  /** A reply that shows the node is on its way. */
  public synchronized void enter(long node) {
    counts.merge(node, 1, Integer::sum);
  }

  /**
   * Looks a name up, for a reply that will show its node, which is entered. One that was parted
   * from its name before it was entered, so that nobody waits for the reply, is not shown.
   */
  public Filesystem.Entry lookup(Filesystem filesystem, long parent, byte[] name)
      throws FsException {
    while (true) {
      Filesystem.Entry found = filesystem.lookup(parent, name);
      if (enterIfCurrent(filesystem, parent, name, found)) {
        return found;
      }
    }
  }

  private boolean enterIfCurrent(
      Filesystem filesystem, long parent, byte[] name, Filesystem.Entry found) {
    enter(found.node());
    Filesystem.Entry now = filesystem.known(parent, name);
    if (now != null && now.node() == found.node()) {
      return true;
    }
    leave(found.node());
    return false;
  }

  /** Enters a node that a listing shows; returns false where its name leads elsewhere by now. */
  public boolean enterIfCurrent(Filesystem filesystem, long node) {
    enter(node);
    if (filesystem.isCurrent(node)) {
      return true;
    }
    leave(node);
    return false;
  }

  /** It has been given to the kernel. */
  public synchronized void leave(long node) {
    if (counts.merge(node, -1, Integer::sum) == 0) {
      counts.remove(node);
      notifyAll();
    }
  }

  /** Waits, for a bounded time, until no reply shows the node. */
  public synchronized void awaitNone(long node) {
    long end = System.nanoTime() + LONGEST_MILLIS * 1_000_000;
    while (counts.containsKey(node)) {
      long left = (end - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        return;
      }
      try {
        wait(left);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
