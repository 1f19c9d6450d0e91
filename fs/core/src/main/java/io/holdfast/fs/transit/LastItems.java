package io.holdfast.fs.transit;

import io.holdfast.fs.ItemKey;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The last item that each thread has read. It tells a reader on its way through an item from one
 * that begins another pass. The table has a fixed number of slots and forgets by collision: a wrong
 * answer costs a fetch, never correctness. Thread-safe without a lock.
 */
final class LastItems {
  /** Threads that are remembered; a power of two. */
  private static final int SLOTS = 1024;

  private final AtomicReferenceArray<@Nullable ItemKey> last = new AtomicReferenceArray<>(SLOTS);

  /**
   * Records the item that a thread reads now.
   *
   * @return the item that the thread read before, equal to {@code item} for the same one; null
   *     where none is remembered
   */
  @Nullable ItemKey exchange(int thread, ItemKey item) {
    int slot = thread & (SLOTS - 1);
    ItemKey before = last.get(slot);
    if (!item.equals(before)) {
      last.set(slot, item);
    }
    return before;
  }
}
