package io.holdfast.fs.transit;

import java.util.concurrent.RejectedExecutionException;

/**
 * Decides when a fetch may ask the origin, and on which thread, and learns from how it went.
 * Thread-safe. No method but {@link #execute} runs a fetch, and none waits for one to have its
 * turn.
 */
public interface Fetchers {
  /**
   * Runs a fetch, now or later.
   *
   * @throws RejectedExecutionException where there are too many that nobody waits for, or at the
   *     end of the mount; it will not run then
   */
  void execute(FetchTask task);

  /** Learns that a reader waits for a task by now. */
  void promote(FetchTask task);

  /** Learns that nobody waits for a task any more, because it took too long. */
  void giveUp(FetchTask task);

  /**
   * Learns that the origin answered.
   *
   * @param bytes how many it sent
   * @param nanos how long that took
   */
  void arrived(int bytes, long nanos);

  /** Learns that the origin failed, or answered too late. */
  void failed();

  /** Gives no more turns. What waits for one is forgotten: transit tells its readers. */
  void close();

  /** Returns the figures of this moment. */
  Figures figures();

  /**
   * How many fetches the origin gets.
   *
   * @param limit how many may be under way at once; 0 where readers fetch themselves
   * @param inFlight how many are, those that were given up not counted
   * @param queued how many wait for their turn
   * @param stuck how many were given up and have not come back
   */
  record Figures(int limit, int inFlight, int queued, int stuck) {}
}
