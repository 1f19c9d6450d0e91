package io.holdfast.fs.transit;

/**
 * A fetch that waits for its turn at the origin, or has it. Compared by identity. The {@link
 * Fetchers} that run the task own its state.
 */
public final class FetchTask {
  /** The state of a task. */
  enum State {
    WAITING,
    /** It has its turn, and no thread yet. */
    READY,
    RUNNING,
    /** The thread still runs, but nobody waits for the fetch any more. */
    GIVEN_UP,
    OVER
  }

  private final int bytes;
  private final Object job;
  private final Runnable fetch;

  /** Whether a reader waits for the fetch; never reset. */
  volatile boolean awaited;

  State state = State.WAITING;

  /**
   * Creates a task.
   *
   * @param bytes bytes to fetch
   * @param job what it is fetched for; equal objects are one job
   * @param awaited whether a reader already waits for the fetch
   * @param fetch reads from the origin; returns when all bytes have arrived or the fetch has failed
   */
  public FetchTask(int bytes, Object job, boolean awaited, Runnable fetch) {
    this.bytes = bytes;
    this.job = job;
    this.awaited = awaited;
    this.fetch = fetch;
  }

  /** Returns the bytes to fetch. */
  public int bytes() {
    return bytes;
  }

  Object job() {
    return job;
  }

  void run() {
    fetch.run();
  }
}
