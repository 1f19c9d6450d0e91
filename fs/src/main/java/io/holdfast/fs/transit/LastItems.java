package io.holdfast.fs.transit;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Remembers what each thread read last, to tell a reader that is still on its way through an item
 * from one that begins another pass over it. Remembers a fixed number of threads and forgets by
 * collision: a wrong answer costs a fetch, never bytes. Thread-safe without a lock.
 */
final class LastItems {
  /** Threads remembered; a power of two. */
  private static final int SLOTS = 1024;

  private final AtomicReferenceArray<@Nullable FetchKey> last = new AtomicReferenceArray<>(SLOTS);

  /**
   * Takes note of what a thread reads now.
   *
   * @return what it read before; equal to {@code key} where it goes on with the same
   */
  @Nullable FetchKey exchange(int thread, FetchKey key) {
    int slot = thread & (SLOTS - 1);
    FetchKey before = last.get(slot);
    if (!key.equals(before)) {
      last.set(slot, key);
    }
    return before;
  }
}
