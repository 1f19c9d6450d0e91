package io.holdfast.fs.analyze;

import java.util.OptionalDouble;

/**
 * What a job's rates are computed from. Immutable.
 *
 * @param now how the job runs: its mean epoch without the first
 * @param cold the epoch that tells most of the origin
 * @param warm the epoch that tells most of preparation and accelerator
 * @param site where it runs
 */
public record Evidence(Observation now, Observation cold, Observation warm, Site site) {

  /**
   * Where a job runs. Immutable.
   *
   * @param processors those that it may use
   * @param nodes those that share the dataset's memory; 1 without peers
   * @param originScales whether more requests at once to the origin bring more: it has latency to
   *     hide, and bandwidth left
   * @param memoryRate bytes per second that resident files are read at; empty if that is not known
   */
  public record Site(int processors, int nodes, boolean originScales, OptionalDouble memoryRate) {}
}
