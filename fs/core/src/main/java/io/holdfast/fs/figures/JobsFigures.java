package io.holdfast.fs.figures;

import java.util.List;
import java.util.OptionalDouble;

/**
 * The jobs that read. Immutable.
 *
 * @param by how they are told apart
 */
public record JobsFigures(String by, List<Job> jobs) {

  /** Returns the same with other rows. */
  public JobsFigures with(List<Job> others) {
    return new JobsFigures(by, others);
  }

  /**
   * A job. Immutable.
   *
   * @param processes how many of it were seen
   * @param hitRatio the share of items that needed no fetch; empty where that cannot be told
   * @param epoch which pass over the dataset it is in; 0 before the first
   * @param epochs the last ones, the one under way as the last
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
   * @param seconds how long it took, or has taken
   */
  public record Epoch(
      long epoch,
      long opens,
      long misses,
      OptionalDouble hitRatio,
      double stallSeconds,
      double seconds) {}
}
