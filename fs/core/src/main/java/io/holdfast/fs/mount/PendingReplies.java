package io.holdfast.fs.mount;

import io.holdfast.fs.FsException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts, by node, the replies on their way to the kernel that show the node under a name. A name
 * may be parted from a node only when there are none. A late reply would lead the kernel to the old
 * node for as long as it believes the reply, or give the old attributes to the new inode.
 *
 * <p>Thread-safe; the monitor guards the counts.
 */
public final class PendingReplies {
  private final Map<Long, Integer> counts = new HashMap<>();
  private final Duration longest;
  private final UnderWay requests;

  /** Creates an empty count. */
  public PendingReplies() {
    this(UnderWay.LONGEST);
  }

  /**
   * Creates an empty count.
   *
   * @param longest how long a wait lasts at most
   */
  PendingReplies(Duration longest) {
    this.longest = longest;
    requests = new UnderWay(longest);
  }

  /**
   * Notes that a request begins whose reply may show nodes.
   *
   * @return to be passed to {@link #replied}
   */
  public UnderWay.Begun begin() {
    return requests.begin();
  }

  /** Notes that the kernel has the reply of a request. */
  public void replied(UnderWay.Begun begun) {
    requests.end(begun);
  }

  /** Returns a wait for the replies to all requests that are under way now. */
  public KernelView.Earlier earlier() {
    return requests.earlier();
  }

  /** Notes that a reply that shows the node is on its way. */
  public synchronized void enter(long node) {
    counts.merge(node, 1, Integer::sum);
  }

  /**
   * Looks a name up for a reply, and enters the node. Does not return a node that was parted from
   * its name before it was entered: nobody would wait for that reply.
   */
  public Filesystem.Entry lookup(Filesystem filesystem, long parent, byte[] name, Asker asker)
      throws FsException {
    while (true) {
      Filesystem.Entry found = filesystem.lookup(parent, name, asker);
      if (enterIfCurrent(filesystem, found.node())) {
        return found;
      }
    }
  }

  /** Enters a node that a reply shows; returns false if its name leads elsewhere by now. */
  public boolean enterIfCurrent(Filesystem filesystem, long node) {
    enter(node);
    boolean current = false;
    try {
      current = filesystem.isCurrent(node);
    } finally {
      if (!current) {
        leave(node);
      }
    }
    return current;
  }

  /** Notes that the kernel has a reply that shows the node. */
  public synchronized void leave(long node) {
    if (counts.merge(node, -1, Integer::sum) == 0) {
      counts.remove(node);
      notifyAll();
    }
  }

  /**
   * Waits until no reply shows the node.
   *
   * @return whether the wait ended within a bounded time
   */
  public synchronized boolean awaitNone(long node) {
    return UnderWay.await(this, longest, () -> !counts.containsKey(node));
  }
}
