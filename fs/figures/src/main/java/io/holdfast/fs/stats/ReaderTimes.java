package io.holdfast.fs.stats;

/**
 * The time of a job's readers up to a look, all added up, in nanoseconds. Immutable.
 *
 * @param lived how long readers lived, from the first open or read of each to its last
 * @param cpu CPU time of all threads of their processes
 * @param readerCpu CPU time of the readers themselves
 * @param runDelay how long readers could have run, and waited for a processor
 * @param processors the time of all processors of the machine while the readers lived
 * @param idle the part of it in which the processors had nothing to do
 * @param hiddenOpens opens by threads of which {@code /proc} showed nothing, so that their time is
 *     missing here
 */
public record ReaderTimes(
    long lived,
    long cpu,
    long readerCpu,
    long runDelay,
    long processors,
    long idle,
    long hiddenOpens) {
  static final ReaderTimes NOTHING = new ReaderTimes(0, 0, 0, 0, 0, 0, 0);

  /** Returns opens of which nothing else is known. */
  static ReaderTimes hidden(long opens) {
    return new ReaderTimes(0, 0, 0, 0, 0, 0, opens);
  }

  ReaderTimes plus(ReaderTimes other) {
    return new ReaderTimes(
        lived + other.lived,
        cpu + other.cpu,
        readerCpu + other.readerCpu,
        runDelay + other.runDelay,
        processors + other.processors,
        idle + other.idle,
        hiddenOpens + other.hiddenOpens);
  }

  ReaderTimes minus(ReaderTimes other) {
    return new ReaderTimes(
        lived - other.lived,
        cpu - other.cpu,
        readerCpu - other.readerCpu,
        runDelay - other.runDelay,
        processors - other.processors,
        idle - other.idle,
        hiddenOpens - other.hiddenOpens);
  }
}
