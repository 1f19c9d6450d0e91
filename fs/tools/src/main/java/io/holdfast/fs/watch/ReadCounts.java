package io.holdfast.fs.watch;

import io.holdfast.fs.figures.JobsFigures;
import io.holdfast.fs.figures.ProcessFigures;

/**
 * The reads of a job or a process, in some time or since the mount. Immutable.
 *
 * @param opens the number of files it opened
 * @param items the number of items of these files
 * @param misses the number of its misses
 * @param fetchedBytes bytes that were fetched for it
 * @param stallSeconds how long it was blocked on fetches, all its readers added up
 */
record ReadCounts(long opens, long items, long misses, long fetchedBytes, double stallSeconds) {
  static final ReadCounts NONE = new ReadCounts(0, 0, 0, 0, 0);

  static ReadCounts of(JobsFigures.Job job) {
    return new ReadCounts(
        job.opens(), job.items(), job.misses(), job.fetchedBytes(), job.stallSeconds());
  }

  static ReadCounts of(ProcessFigures process) {
    return new ReadCounts(
        process.opens(),
        process.items(),
        process.misses(),
        process.fetchedBytes(),
        process.stallSeconds());
  }

  /** Returns the counts since an earlier moment; all counts if they have begun anew. */
  ReadCounts since(ReadCounts then) {
    if (then.opens > opens
        || then.items > items
        || then.misses > misses
        || then.fetchedBytes > fetchedBytes) {
      return this;
    }
    return new ReadCounts(
        opens - then.opens,
        items - then.items,
        misses - then.misses,
        fetchedBytes - then.fetchedBytes,
        Math.max(0, stallSeconds - then.stallSeconds));
  }

  ReadCounts plus(ReadCounts more) {
    return new ReadCounts(
        opens + more.opens,
        items + more.items,
        misses + more.misses,
        fetchedBytes + more.fetchedBytes,
        stallSeconds + more.stallSeconds);
  }

  /** Returns the share of items that needed no fetch; NaN if that is not known. */
  double hitRatio() {
    return hitRatio(items, misses);
  }

  /**
   * Returns the share of items that needed no fetch; NaN if that is not known: the items of files
   * that stay open may miss more often than once.
   */
  static double hitRatio(long items, long misses) {
    return items == 0 || misses > items ? Double.NaN : 1 - (double) misses / items;
  }

  boolean isNothing() {
    return opens == 0 && fetchedBytes == 0 && stallSeconds == 0;
  }
}
