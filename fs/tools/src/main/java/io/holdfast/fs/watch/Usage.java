package io.holdfast.fs.watch;

/**
 * A job or a process in some time. Immutable.
 *
 * @param name of the job, or of the job that a process belongs to
 * @param pid the process, or 0 for a job
 * @param command the program of a process
 * @param processes the number of a job's processes, or of the ended processes that are one row
 * @param epoch the job's pass over the dataset; 0 or -1 if it is in none
 * @param waitsFor the verdict on a job; empty for a process, or if an older daemon tells none
 * @param active the number of processes that opened a file or were blocked in that time
 * @param recent its reads in that time
 * @param total its reads since the mount
 */
record Usage(
    String name,
    long pid,
    String command,
    long processes,
    long epoch,
    String waitsFor,
    long active,
    ReadCounts recent,
    ReadCounts total) {

  /** Returns this row and another one of ended processes as one. */
  Usage with(Usage other) {
    return new Usage(
        name,
        pid,
        command,
        processes + other.processes,
        epoch,
        waitsFor,
        active + other.active,
        recent.plus(other.recent),
        total.plus(other.total));
  }

  /**
   * Returns the share of the time for which its average process was blocked on fetches, at most 1.
   *
   * @param seconds the length of the time
   */
  double stallShare(double seconds) {
    return Change.share(recent.stallSeconds(), seconds * Math.max(1, active));
  }
}
