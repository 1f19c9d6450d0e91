package io.holdfast.fs.throughput;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalDouble;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;

/** The rate of an origin is told only where it is right, for any job, whatever limits that. */
class OriginRateTest {
  private static final double MB = 1e6;

  /**
   * What is told is at most that: where two readers take turns at the origin, it looks as if it
   * rested a quarter of the time, and the mean of both is told.
   */
  private static final double TOLD = 1 / Math.sqrt(0.75);

  /** Files are few, and their times at the origin vary. */
  private static final double VARIATION = 1.03;

  private static final double[] SHARES = {0, 0.35, 0.65, 0.9};

  @Property(tries = 300)
  void originRate_ofAnyPipeline_isNeverTooHigh(
      @ForAll @IntRange(min = 1, max = 16) int readers,
      @ForAll @IntRange(min = 1, max = 8) int processors,
      @ForAll @DoubleRange(min = 10, max = 200) double rate,
      @ForAll @DoubleRange(min = 10, max = 300) double origin,
      @ForAll @DoubleRange(min = 20, max = 600) double accelerator,
      @ForAll @DoubleRange(min = 0, max = 0.95) double resident,
      @ForAll long seed) {
    double consumer = accelerator > 300 ? Double.POSITIVE_INFINITY : accelerator * MB;
    SimulatedJob job =
        new SimulatedJob(readers, processors, rate * MB, origin * MB, consumer, resident);
    Observation seen = job.run(seed);
    JobModel model = new JobModel(new Evidence(seen, seen, seen, Epochs.site(processors)));
    OptionalDouble told = model.rates().origin();
    double least = model.rates().originAtLeast().orElse(0);
    assertThat(told.orElse(0) / (origin * MB))
        .as("S of %s, from %s", job, seen)
        .isLessThan(TOLD * VARIATION);
    assertThat(least / (origin * MB)).as("least S of %s", job).isLessThan(VARIATION);
    // a consumer that was not seen to limit may do so with more memory: that is not predicted
    double limit = model.rates().acceleratorIsLimit() ? consumer : Double.POSITIVE_INFINITY;
    for (double share : SHARES) {
      Setup with = model.setup().withCapacityShare(share);
      if (model.isAtLeast(with)) {
        SimulatedJob other =
            new SimulatedJob(readers, processors, rate * MB, origin * MB, limit, share);
        assertThat(model.speed(with).orElseThrow() / other.run(seed).speed())
            .as("%s of %s, from %s", share, job, seen)
            .isLessThan(VARIATION);
      }
    }
  }
}
