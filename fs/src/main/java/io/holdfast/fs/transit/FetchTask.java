package io.holdfast.fs.transit;

/**
 * A fetch that waits for its turn at the origin, or has it. Compared by identity. Its state belongs
 * to the {@link Fetchers} that got it.
 */
public final class FetchTask {
  /** Where a task is. */
  enum State {
    WAITING,
    RUNNING,
    /** Its thread still runs, and nobody waits for what it brings. */
    GIVEN_UP,
    OVER
  }

  private final int bytes;
  private final Runnable fetch;

  /** Whether a reader waits for it; once true, so for ever. */
  boolean awaited;

  State state = State.WAITING;

  /**
   * Creates a task.
   *
   * @param bytes what is to be fetched
   * @param awaited whether a reader waits for it already
   * @param fetch reads from the origin; ends when all is there or has failed
   */
  public FetchTask(int bytes, boolean awaited, Runnable fetch) {
    this.bytes = bytes;
    this.awaited = awaited;
    this.fetch = fetch;
  }

  /** Returns what is to be fetched, in bytes. */
  public int bytes() {
    return bytes;
  }

  void run() {
    fetch.run();
  }
}
