package io.holdfast.fs.stats;

/**
 * Cumulative figures of a job at one moment; those of a time are the difference of two. Immutable.
 *
 * @param opens files opened
 * @param items items of the files that were opened
 * @param misses items that had to be fetched for it, or that it had to wait for
 * @param fetchedBytes what was fetched for it
 * @param stallNanos how long its threads were blocked, all added up
 * @param nanos when, as the clock of nanoseconds tells it
 */
public record Counts(
    long opens, long items, long misses, long fetchedBytes, long stallNanos, long nanos) {
  /** Returns what came after an earlier moment; {@code nanos} is how long that was. */
  public Counts since(Counts earlier) {
    return new Counts(
        opens - earlier.opens,
        items - earlier.items,
        misses - earlier.misses,
        fetchedBytes - earlier.fetchedBytes,
        stallNanos - earlier.stallNanos,
        nanos - earlier.nanos);
  }

  /** Returns the share of items that needed no fetch, or NaN where that cannot be told. */
  public double hitRatio() {
    return items == 0 || misses > items ? Double.NaN : 1 - (double) misses / items;
  }

  /** Returns the same figures of another time. */
  Counts at(long time) {
    return new Counts(opens, items, misses, fetchedBytes, stallNanos, time);
  }
}
