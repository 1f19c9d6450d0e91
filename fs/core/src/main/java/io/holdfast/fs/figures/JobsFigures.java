package io.holdfast.fs.figures;

import java.util.List;
import java.util.OptionalDouble;

/**
 * The jobs that read. Immutable.
 *
 * @param by how processes are grouped into jobs
 */
public record JobsFigures(String by, List<Job> jobs) {

  /** Returns the same with other rows. */
  public JobsFigures with(List<Job> others) {
    return new JobsFigures(by, others);
  }

  /**
   * A job. Immutable.
   *
   * @param processes the number of its processes that were seen
   * @param hitRatio the share of items that needed no fetch; empty if that is not known
   * @param epoch the number of the job's pass over the dataset; 0 before the first
   * @param epochs the last epochs; the one under way comes last
   */
  public record Job(
      String job,
      long processes,
      long opens,
      long misses,
      OptionalDouble hitRatio,
      long fetchedBytes,
      double stallSeconds,
      long epoch,
      List<Epoch> epochs) {}

  /**
   * A pass of a job over the dataset. Immutable.
   *
   * @param hitRatio as of a job
   * @param seconds how long the pass took, or has taken so far
   */
  public record Epoch(
      long epoch,
      long opens,
      long misses,
      OptionalDouble hitRatio,
      double stallSeconds,
      double seconds) {}
}
