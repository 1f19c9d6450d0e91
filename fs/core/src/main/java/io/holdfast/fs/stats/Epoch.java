package io.holdfast.fs.stats;

import io.holdfast.fs.figures.JobsFigures;

/**
 * A pass of a job over the files that it reads. Immutable.
 *
 * @param number 1 for the first pass that was seen
 * @param counts the figures of the pass; {@code nanos} is how long it took, or has taken so far
 */
public record Epoch(int number, JobCounts counts) {
  JobsFigures.Epoch figures() {
    return new JobsFigures.Epoch(
        number,
        counts.opens(),
        counts.misses(),
        counts.shownHitRatio(),
        counts.stallSeconds(),
        JobCounts.seconds(counts.nanos()));
  }
}
