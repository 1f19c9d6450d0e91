package io.holdfast.fs.stats;

import java.util.OptionalDouble;

/**
 * Cumulative figures of a job at one moment. The figures of a time are the difference of two.
 * Immutable.
 *
 * @param opens files opened
 * @param items items of the files that were opened
 * @param misses items that were fetched for the job, or that it had to wait for
 * @param fetchedBytes bytes that were fetched for the job
 * @param stallNanos how long the job's threads were blocked, all added up
 * @param nanos the moment, by the clock of nanoseconds
 */
public record JobCounts(
    long opens, long items, long misses, long fetchedBytes, long stallNanos, long nanos) {
  /** Returns the figures since an earlier moment; {@code nanos} is the time since then. */
  public JobCounts since(JobCounts earlier) {
    return new JobCounts(
        opens - earlier.opens,
        items - earlier.items,
        misses - earlier.misses,
        fetchedBytes - earlier.fetchedBytes,
        stallNanos - earlier.stallNanos,
        nanos - earlier.nanos);
  }

  /** Returns the sum of both; {@code nanos} stays. */
  JobCounts plus(JobCounts other) {
    return new JobCounts(
        opens + other.opens,
        items + other.items,
        misses + other.misses,
        fetchedBytes + other.fetchedBytes,
        stallNanos + other.stallNanos,
        nanos);
  }

  /** Returns the share of items that needed no fetch, or NaN if that is not known. */
  public double hitRatio() {
    return items == 0 || misses > items ? Double.NaN : 1 - (double) misses / items;
  }

  /** Returns the same with four digits, or nothing if that is not known. */
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
