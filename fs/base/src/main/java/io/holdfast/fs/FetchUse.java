package io.holdfast.fs;

/**
 * Counts who uses a fetch, for the figures of jobs, and tells for which job it is. Thread-safe. No
 * method blocks or throws.
 */
public interface FetchUse {
  /** Counts nothing: for fetches that no application waits for. */
  FetchUse NONE =
      new FetchUse() {
        @Override
        public void read(int thread, boolean waits) {}

        @Override
        public void fetched(int bytes, ReadSource source) {}

        @Override
        public Object job() {
          return this;
        }
      };

  /**
   * Counts an application's read that the fetch answers.
   *
   * @param thread the kernel's id of the thread that reads, or 0 if it is unknown
   * @param waits whether the bytes have yet to arrive
   */
  void read(int thread, boolean waits);

  /**
   * Counts the bytes of the fetch, when all of them have arrived.
   *
   * @param source the tier that they came from
   */
  void fetched(int bytes, ReadSource source);

  /** Returns what stands for the job that the fetch began for; equal objects are one job. */
  Object job();
}
