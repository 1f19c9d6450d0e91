package io.holdfast.fs;

/**
 * Learns who uses a fetch, for the figures of jobs. Thread-safe; no method blocks or throws, and a
 * call is a call of a counter.
 */
public interface FetchUse {
  /** Counts nothing: for what no application waits for. */
  FetchUse NONE =
      new FetchUse() {
        @Override
        public void read(int thread, boolean waits) {}

        @Override
        public void fetched(int bytes) {}
      };

  /**
   * An application's read is answered from the fetch.
   *
   * @param thread the kernel's id of the thread that reads, or 0 where it is unknown
   * @param waits whether the bytes have yet to arrive
   */
  void read(int thread, boolean waits);

  /** All that was to be fetched has arrived. */
  void fetched(int bytes);
}
