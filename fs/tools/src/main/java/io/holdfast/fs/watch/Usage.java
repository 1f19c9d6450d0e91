package io.holdfast.fs.watch;

/**
 * A job or a process in some time. Immutable.
 *
 * @param name of the job, or of the job that a process belongs to
 * @param pid the process, or 0 for a job
 * @param command the program of a process
 * @param processes how many processes a job has, or how many that have ended are one row
 * @param epoch which pass over the dataset a job is in, or 0
 * @param active how many processes opened something or were blocked in that time
 * @param recent what it did in that time
 * @param total what it did since the mount
 */
record Usage(
    String name,
    long pid,
    String command,
    long processes,
    long epoch,
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
        active + other.active,
        recent.plus(other.recent),
        total.plus(other.total));
  }

  /**
   * The share of the time that the average process of it was blocked on fetches, at most 1.
   *
   * @param seconds how long the time was
   */
  double stallShare(double seconds) {
    return Change.share(recent.stallSeconds(), seconds * Math.max(1, active));
  }
}
