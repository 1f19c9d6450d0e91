package io.holdfast.fs.residency;

import io.holdfast.fs.FsException;
import io.holdfast.fs.ItemKey;
import java.util.List;

/**
 * Remembers which items are resident, for the daemon after this one. Thread-safe; waits for nobody
 * and needs no descriptor, so that isolated threads may call it.
 */
public interface ResidentLog {
  /** A log of a daemon that has no successor. */
  ResidentLog NONE =
      new ResidentLog() {
        @Override
        public void reserve() {}

        @Override
        public void admitted(ItemKey item) {}

        @Override
        public void released(ItemKey item) {}

        @Override
        public List<ItemKey> before() {
          return List.of();
        }
      };

  /**
   * Makes room for an admission and for its release; on a thread of the daemon that is not
   * isolated.
   *
   * @throws FsException NO_MEMORY where there is none
   */
  void reserve() throws FsException;

  /** An item is resident from now on; {@link #reserve} was called before. */
  void admitted(ItemKey item);

  /** An item is no longer resident. */
  void released(ItemKey item);

  /**
   * Returns what the daemon before this one had resident, in the order of admission. It counts as
   * resident until it is released.
   */
  List<ItemKey> before();
}
