package io.holdfast.fs.cli;

import io.holdfast.policy.simulator.Progress;
import io.holdfast.policy.simulator.Scenario;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/**
 * Shows somebody who waits how far a simulation has come; nothing where nobody watches, or where it
 * will not take long. Used by one thread; the bar has its own.
 */
final class SimulationProgress implements Progress, AutoCloseable {
  /** Fewer accesses take about a second or two. */
  private static final long LONG = 10_000_000;

  private static final int WIDTH = 79;

  private final @Nullable ProgressBar bar;

  private SimulationProgress(@Nullable ProgressBar bar) {
    this.bar = bar;
  }

  /**
   * Begins.
   *
   * @param simulations how many of the scenario there will be
   * @param watched whether somebody watches the error output
   */
  static SimulationProgress of(Scenario scenario, int simulations, boolean watched) {
    long readers = scenario.jobs();
    if (scenario.cluster().coordination() == Scenario.Coordination.NONE) {
      readers *= scenario.cluster().nodes();
    }
    // An estimate: not every order reads as many as there are items.
    double accesses =
        (double) scenario.dataset().items() * scenario.epochs() * readers * simulations;
    if (!watched || accesses < LONG) {
      return new SimulationProgress(null);
    }
    ProgressBar bar =
        new ProgressBarBuilder()
            .setTaskName("simulating")
            .setInitialMax((long) accesses)
            .setUnit("M", 1_000_000)
            .setStyle(ProgressBarStyle.ASCII)
            .setConsumer(
                new DelegatingProgressBarConsumer(text -> System.err.print("\r" + text), WIDTH))
            .build();
    return new SimulationProgress(bar);
  }

  @Override
  public void advanced(long accesses) {
    if (bar != null) {
      bar.stepBy(accesses);
    }
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
      System.err.print("\r" + " ".repeat(WIDTH) + "\r");
    }
  }
}
