package io.holdfast.fs.transit;

import java.util.concurrent.RejectedExecutionException;

/**
 * Decides when and on which thread a fetch may ask the origin, and learns from the outcome.
 * Thread-safe. Only {@link #execute} runs a fetch, and no method waits for a turn.
 */
public interface Fetchers {
  /**
   * Runs a fetch, now or later.
   *
   * @throws RejectedExecutionException where too many fetches that nobody waits for are queued, or
   *     at the end of the mount; the fetch does not run then
   */
  void execute(FetchTask task);

  /** Learns that a reader now waits for a task. */
  void promote(FetchTask task);

  /**
   * Learns that a task took too long and nobody waits for it any more.
   *
   * @return whether the task was still queued for its turn: it never runs then
   */
  boolean giveUp(FetchTask task);

  /**
   * Records an answer of the origin.
   *
   * @param bytes bytes of the answer
   * @param nanos latency
   */
  void arrived(int bytes, long nanos);

  /** Records that the origin failed or answered too late. */
  void failed();

  /** Starts the fetches for which no thread could be started. To be called every second. */
  void startLeft();

  /** Stops giving turns. Queued fetches are forgotten: transit answers their readers. */
  void close();

  /** Returns the current figures. */
  Figures figures();

  /**
   * The load of the origin.
   *
   * @param limit fetches that may run at once; 0 where readers fetch themselves
   * @param inFlight running fetches, without those given up
   * @param queued fetches that wait for their turn, or for a thread
   * @param stuck fetches that were given up and have not returned
   */
  record Figures(int limit, int inFlight, int queued, int stuck) {}
}
