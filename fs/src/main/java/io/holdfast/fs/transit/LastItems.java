package io.holdfast.fs.transit;

import io.holdfast.fs.ItemKey;
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

  private final AtomicReferenceArray<@Nullable ItemKey> last = new AtomicReferenceArray<>(SLOTS);

  /**
   * Takes note of what a thread reads now.
   *
   * @return the item that it read before, equal to {@code item} where it goes on with the same; or
   *     null where nothing is remembered
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
