package io.holdfast.fs.residency;

import io.holdfast.fs.FsException;
import io.holdfast.fs.ItemKey;
import java.util.List;

/**
 * Records which items are resident, for the next daemon. Thread-safe. The methods that record wait
 * for {@link #reserve} alone and need no descriptor, so isolated threads may call them.
 */
public interface ResidentLog {
  /** The log of a daemon without a successor. */
  ResidentLog NONE =
      new ResidentLog() {
        @Override
        public void reserve() {}

        @Override
        public void admitted(ItemKey item) {}

        @Override
        public void released(ItemKey item) {}

        @Override
        public void notTakenOver(ItemKey item) {}

        @Override
        public List<ItemKey> before() {
          return List.of();
        }
      };

  /**
   * Reserves room to record an admission and its release; not on an isolated thread.
   *
   * @throws FsException NO_MEMORY where there is no room
   */
  void reserve() throws FsException;

  /** Records that an item is resident; {@link #reserve} was called before. */
  void admitted(ItemKey item);

  /** Records that an item is no longer resident. */
  void released(ItemKey item);

  /**
   * Records that a resident of the previous daemon is no longer resident, unless this daemon has
   * admitted or released the item meanwhile.
   */
  void notTakenOver(ItemKey item);

  /**
   * Returns the previous daemon's residents, in the order of admission, that this one has neither
   * admitted nor released. They count as resident until they are released.
   */
  List<ItemKey> before();
}
