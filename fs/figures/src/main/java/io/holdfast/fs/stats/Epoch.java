package io.holdfast.fs.stats;

import io.holdfast.fs.figures.EpochSplit;
import io.holdfast.fs.figures.JobsFigures;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * A pass of a job over the files that it reads. Immutable.
 *
 * @param number 1 for the first pass that was seen
 * @param counts the figures of the pass; {@code nanos} is how long it took, or has taken so far
 * @param readers the most readers at a time; 0 if that is not known
 */
public record Epoch(int number, JobCounts counts, int readers) {
  /** One open in so many may be of a process that {@code /proc} does not show. */
  private static final int HIDDEN = 10;

  /** Returns the figures as {@code stats.json} shows them. */
  public JobsFigures.Epoch figures() {
    ReaderTimes times = counts.readers();
    Tiers needed = counts.fetchedBytes().plus(counts.sharedBytes());
    boolean known = times.lived() > 0 && times.hiddenOpens() * HIDDEN <= counts.opens();
    JobsFigures.Epoch facts =
        new JobsFigures.Epoch(
            number,
            counts.opens(),
            counts.misses(),
            counts.shownHitRatio(),
            counts.stallSeconds(),
            JobCounts.seconds(counts.nanos()),
            counts.bytes(),
            needed.origin(),
            needed.peer(),
            JobCounts.seconds(counts.stallNanos().origin()),
            JobCounts.seconds(counts.stallNanos().peer()),
            OptionalDouble.of(JobCounts.seconds(counts.fetchingNanos())),
            seconds(known, times.cpu()),
            seconds(known, times.readerCpu()),
            seconds(known, times.runDelay()),
            seconds(known, times.lived()),
            seconds(known && times.processors() > 0, times.processors()),
            seconds(known && times.processors() > 0, times.idle()),
            readers,
            Optional.empty());
    return facts.with(EpochSplit.shares(facts));
  }

  private static OptionalDouble seconds(boolean known, long nanos) {
    return known ? OptionalDouble.of(JobCounts.seconds(nanos)) : OptionalDouble.empty();
  }

  /** Tells whether too many opens were by threads of which {@code /proc} showed nothing. */
  boolean isHidden() {
    return counts.readers().hiddenOpens() * HIDDEN > counts.opens();
  }
}
