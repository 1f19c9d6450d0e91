package io.holdfast.fs.watch;

import io.holdfast.fs.figures.JobsFigures;
import io.holdfast.fs.figures.ProcessFigures;

/**
 * The reads of a job or a process, in some time or since the mount. Immutable.
 *
 * @param opens the number of files it opened
 * @param misses the number of its misses
 * @param fetchedBytes bytes that were fetched for it
 * @param stallSeconds how long it was blocked on fetches, all its readers added up
 */
record ReadCounts(long opens, long misses, long fetchedBytes, double stallSeconds) {
  static final ReadCounts NONE = new ReadCounts(0, 0, 0, 0);

  static ReadCounts of(JobsFigures.Job job) {
    return new ReadCounts(job.opens(), job.misses(), job.fetchedBytes(), job.stallSeconds());
  }

  static ReadCounts of(ProcessFigures process) {
    return new ReadCounts(
        process.opens(), process.misses(), process.fetchedBytes(), process.stallSeconds());
  }

  /** Returns the counts since an earlier moment; all counts if they have begun anew. */
  ReadCounts since(ReadCounts then) {
    if (then.opens > opens || then.misses > misses || then.fetchedBytes > fetchedBytes) {
      return this;
    }
    return new ReadCounts(
        opens - then.opens,
        misses - then.misses,
        fetchedBytes - then.fetchedBytes,
        Math.max(0, stallSeconds - then.stallSeconds));
  }

  ReadCounts plus(ReadCounts more) {
    return new ReadCounts(
        opens + more.opens,
        misses + more.misses,
        fetchedBytes + more.fetchedBytes,
        stallSeconds + more.stallSeconds);
  }

  /** Returns the share of opens that needed no fetch; NaN if that is not known. */
  double hitRatio() {
    // files of several items may miss more often than they are opened
    return opens == 0 || misses > opens ? Double.NaN : 1 - (double) misses / opens;
  }

  boolean isNothing() {
    return opens == 0 && fetchedBytes == 0 && stallSeconds == 0;
  }
}
