package io.holdfast.fs.figures;

import java.util.List;
import java.util.OptionalDouble;

/**
 * The speed of a job by the share of what it reads that is in memory, as a model predicts it.
 * Immutable.
 *
 * @param epoch the epoch that the prediction is from
 * @param bytes what the share 1 stands for
 * @param share the share that is in memory now
 * @param kneeShare the share beyond which more memory brings nothing; empty if there is none below
 *     1
 * @param advice what the curve means, in one or two sentences
 */
public record CurveFigures(
    String job,
    long epoch,
    long bytes,
    double share,
    OptionalDouble kneeShare,
    String advice,
    List<Point> points) {

  /**
   * A point of the curve. Immutable.
   *
   * @param share the share in memory, from 0 to 1
   * @param capacityBytes the capacity that holds it
   * @param atLeast whether the speed may be higher, because the rate of the origin cannot be told
   */
  public record Point(
      double share,
      long capacityBytes,
      double bytesPerSecond,
      double epochSeconds,
      boolean atLeast) {}
}
