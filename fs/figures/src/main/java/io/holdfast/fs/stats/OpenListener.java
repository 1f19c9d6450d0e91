package io.holdfast.fs.stats;

/** Follows the opens of jobs. Thread-safe. */
@FunctionalInterface
public interface OpenListener {
  /** Follows nothing. */
  OpenListener NONE = (job, thread, batch) -> {};

  /**
   * Learns of opens, in their order. Called on the thread that watches opens, which is isolated: an
   * implementation waits for nothing, logs nothing and throws nothing.
   *
   * @param job the job's name
   * @param thread the kernel's id of the thread
   * @param batch the files that it has opened
   */
  void opened(String job, int thread, OpenBatch batch);
}
