package io.holdfast.fs.transit;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Remembers what each thread read last, to tell a reader that is still on its way through an item
 * from one that begins another pass over it. Remembers a fixed number of threads and forgets by
 * collision: a wrong answer costs a fetch, never bytes. Thread-safe without a lock.
 */
final class LastItems {
  /** What {@link #exchange} returns where nothing is remembered. */
  static final long NONE = 0;

  /** Threads remembered; a power of two. */
  private static final int SLOTS = 1024;

  private final AtomicLongArray last = new AtomicLongArray(SLOTS);

  /**
   * Takes note of what a thread reads now.
   *
   * @param item the item's id
   * @return the item that it read before; equal to {@code item} where it goes on with the same
   */
  long exchange(int thread, long item) {
    int slot = thread & (SLOTS - 1);
    long before = last.get(slot);
    if (before != item) {
      last.set(slot, item);
    }
    return before;
  }
}
