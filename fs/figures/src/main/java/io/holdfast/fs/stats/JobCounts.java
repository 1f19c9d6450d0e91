package io.holdfast.fs.stats;

import java.util.OptionalDouble;

/**
 * Cumulative figures of a job at one moment. The figures of a time are the difference of two.
 * Immutable.
 *
 * @param opens files opened
 * @param items items of the files that were opened
 * @param bytes bytes of the files that were opened
 * @param misses items that were fetched for the job, or that it had to wait for
 * @param fetchedBytes bytes that were fetched for the job
 * @param sharedBytes bytes that were fetched for other jobs while it waited for them
 * @param stallNanos how long the job's threads were blocked, all added up
 * @param fetchingNanos how long at least one of them was blocked
 * @param readers the time of its readers, up to the last look
 * @param nanos the moment, by a clock of nanoseconds that stands still while the job pauses
 */
public record JobCounts(
    long opens,
    long items,
    long bytes,
    long misses,
    Tiers fetchedBytes,
    Tiers sharedBytes,
    Tiers stallNanos,
    long fetchingNanos,
    ReaderTimes readers,
    long nanos) {
  /** Nothing, at the moment 0. */
  static final JobCounts NOTHING =
      new JobCounts(
          0, 0, 0, 0, Tiers.NOTHING, Tiers.NOTHING, Tiers.NOTHING, 0, ReaderTimes.NOTHING, 0);

  /** Returns the figures since an earlier moment; {@code nanos} is the time since then. */
  public JobCounts since(JobCounts earlier) {
    return new JobCounts(
        opens - earlier.opens,
        items - earlier.items,
        bytes - earlier.bytes,
        misses - earlier.misses,
        fetchedBytes.minus(earlier.fetchedBytes),
        sharedBytes.minus(earlier.sharedBytes),
        stallNanos.minus(earlier.stallNanos),
        fetchingNanos - earlier.fetchingNanos,
        readers.minus(earlier.readers),
        nanos - earlier.nanos);
  }

  /**
   * Returns the sum of both. {@code nanos} and {@code fetchingNanos} stay, because jobs go on side
   * by side.
   */
  JobCounts plus(JobCounts other) {
    return new JobCounts(
        opens + other.opens,
        items + other.items,
        bytes + other.bytes,
        misses + other.misses,
        fetchedBytes.plus(other.fetchedBytes),
        sharedBytes.plus(other.sharedBytes),
        stallNanos.plus(other.stallNanos),
        fetchingNanos,
        readers.plus(other.readers),
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
    return seconds(stallNanos.sum());
  }

  static double seconds(long time) {
    return Math.round(time / 1e6) / 1000.0;
  }

  /** Returns the same figures of another time. */
  JobCounts at(long time) {
    return with(opens, items, bytes, time);
  }

  /** Returns the same figures, of another time if that is earlier. */
  JobCounts until(long time) {
    return nanos - time > 0 ? at(time) : this;
  }

  /** Returns the same figures with other opens. */
  JobCounts withOpens(long otherOpens, long otherItems, long otherBytes) {
    return with(otherOpens, otherItems, otherBytes, nanos);
  }

  private JobCounts with(long otherOpens, long otherItems, long otherBytes, long time) {
    return new JobCounts(
        otherOpens,
        otherItems,
        otherBytes,
        misses,
        fetchedBytes,
        sharedBytes,
        stallNanos,
        fetchingNanos,
        readers,
        time);
  }
}
