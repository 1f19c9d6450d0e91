package io.holdfast.fs.checkpoint;

/**
 * The figures of a checkpoint mount, as {@code holdfast stats} shows them.
 *
 * @param frontBytes what the front holds: pending, kept, and its log
 * @param pendingBytes what programs have written and the store does not have durably
 * @param pendingOperations the number of operations that the store does not have durably
 * @param persistedBytes what the store has taken since the daemon started
 * @param oldestPendingSeconds the age of the first operation that is pending; 0 if there is none
 * @param persistBytesPerSecond the store's speed, newest first by half
 * @param errors how often the store failed
 * @param storeFails whether the last attempt failed
 * @param lastError why, the last time; empty if never
 * @param waitingWriters the number of programs that wait because the front is full
 * @param state what goes on, in words
 */
public record CheckpointFigures(
    long frontBytes,
    long frontCapacityBytes,
    long pendingBytes,
    long pendingOperations,
    long persistedBytes,
    double oldestPendingSeconds,
    double persistBytesPerSecond,
    long errors,
    boolean storeFails,
    String lastError,
    long waitingWriters,
    String state,
    Advice advice) {
  /**
   * Collects the figures of a front and its persister.
   *
   * @param iteration seconds of an iteration of the job; 0 if not known
   * @param bound of the overhead by saves
   * @param now nanoseconds of the epoch
   */
  public static CheckpointFigures of(
      Front front, Persister persister, SaveMeter meter, double iteration, double bound, long now) {
    Front.Usage usage = front.usage();
    Persister.Progress progress = persister.progress();
    double speed = progress.bytesPerSecond();
    double rest = speed > 0 ? usage.pendingBytes() / speed : 0;
    String state =
        progress.fails()
            ? "the store fails"
            : usage.waiting() > 0
                ? "the front is full: writers wait for the store"
                : usage.pendingOperations() > 0 ? "persisting" : "all is in the store";
    return new CheckpointFigures(
        usage.bytes(),
        usage.capacity(),
        usage.pendingBytes(),
        usage.pendingOperations(),
        progress.persistedBytes(),
        usage.oldest() == 0 ? 0 : Math.max(0, now - usage.oldest()) / 1e9,
        speed,
        progress.errors(),
        progress.fails(),
        progress.lastError(),
        usage.waiting(),
        state,
        meter.advice(iteration, bound, rest));
  }
}
