package io.holdfast.fs.stats;

/**
 * The time of a job's readers up to a look, all added up, in nanoseconds. Immutable.
 *
 * @param lived how long readers lived, from the first open or read of each to its last
 * @param cpu CPU time of all threads of their processes
 * @param readerCpu CPU time of the readers themselves
 * @param runDelay how long readers could have run, and waited for a processor
 * @param hiddenOpens opens by threads of which {@code /proc} showed nothing, so that their time is
 *     missing here
 */
public record ReaderTimes(long lived, long cpu, long readerCpu, long runDelay, long hiddenOpens) {
  static final ReaderTimes NOTHING = new ReaderTimes(0, 0, 0, 0, 0);

  ReaderTimes plus(ReaderTimes other) {
    return new ReaderTimes(
        lived + other.lived,
        cpu + other.cpu,
        readerCpu + other.readerCpu,
        runDelay + other.runDelay,
        hiddenOpens + other.hiddenOpens);
  }

  ReaderTimes minus(ReaderTimes other) {
    return new ReaderTimes(
        lived - other.lived,
        cpu - other.cpu,
        readerCpu - other.readerCpu,
        runDelay - other.runDelay,
        hiddenOpens - other.hiddenOpens);
  }
}
