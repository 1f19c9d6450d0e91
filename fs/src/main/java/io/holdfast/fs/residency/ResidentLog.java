package io.holdfast.fs.residency;

import io.holdfast.fs.FsException;
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
        public void admitted(long item) {}

        @Override
        public void released(long item) {}

        @Override
        public List<Long> before() {
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
  void admitted(long item);

  /** An item is no longer resident. */
  void released(long item);

  /**
   * Returns what the daemon before this one had resident, in the order of admission. It counts as
   * resident until it is released.
   */
  List<Long> before();
}
