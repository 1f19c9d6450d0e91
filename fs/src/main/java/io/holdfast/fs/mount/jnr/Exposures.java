package io.holdfast.fs.mount.jnr;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts, by node, the lookups whose reply shows the node and is still on its way through libfuse.
 * A name may be parted from a node only when there are none: libfuse would give the new inode to a
 * reply with the old attributes.
 *
 * <p>Thread-safe; the monitor guards the counts.
 */
final class Exposures {
  private static final long LONGEST_MILLIS = Duration.ofSeconds(2).toMillis();

  private final Map<Long, Integer> counts = new HashMap<>();

  synchronized void enter(long node) {
    counts.merge(node, 1, Integer::sum);
  }

  synchronized void leave(long node) {
    if (counts.merge(node, -1, Integer::sum) == 0) {
      counts.remove(node);
      notifyAll();
    }
  }

  /** Waits, for a bounded time, until no reply shows the node. */
  synchronized void awaitNone(long node) {
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
