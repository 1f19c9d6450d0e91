package io.holdfast.fs.mount;

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
