package io.holdfast.fs.stats;

import java.util.OptionalDouble;

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
public record JobCounts(
    long opens, long items, long misses, long fetchedBytes, long stallNanos, long nanos) {
  /** Returns what came after an earlier moment; {@code nanos} is how long that was. */
  public JobCounts since(JobCounts earlier) {
    return new JobCounts(
        opens - earlier.opens,
        items - earlier.items,
        misses - earlier.misses,
        fetchedBytes - earlier.fetchedBytes,
        stallNanos - earlier.stallNanos,
        nanos - earlier.nanos);
  }

  /** Returns what both come to; {@code nanos} stays. */
  JobCounts plus(JobCounts other) {
    return new JobCounts(
        opens + other.opens,
        items + other.items,
        misses + other.misses,
        fetchedBytes + other.fetchedBytes,
        stallNanos + other.stallNanos,
        nanos);
  }

  /** Returns the share of items that needed no fetch, or NaN where that cannot be told. */
  public double hitRatio() {
    return items == 0 || misses > items ? Double.NaN : 1 - (double) misses / items;
  }

  /** Returns the same with four digits, or nothing where it cannot be told. */
  OptionalDouble shownHitRatio() {
    double ratio = hitRatio();
    return Double.isNaN(ratio)
        ? OptionalDouble.empty()
        : OptionalDouble.of(Math.round(ratio * 10_000) / 10_000.0);
  }

  /** Returns how long its threads were blocked, to the millisecond. */
  double stallSeconds() {
    return seconds(stallNanos);
  }

  static double seconds(long time) {
    return Math.round(time / 1e6) / 1000.0;
  }

  /** Returns the same figures of another time. */
  JobCounts at(long time) {
    return new JobCounts(opens, items, misses, fetchedBytes, stallNanos, time);
  }
}
