package io.holdfast.fs.cli;

import io.holdfast.fs.host.Bar;
import io.holdfast.policy.simulator.Progress;
import io.holdfast.policy.simulator.Scenario;
import java.io.PrintWriter;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Shows somebody who waits how far a simulation has come; nothing where nobody watches, or where it
 * will not take long. Used by one thread; the bar has its own.
 */
final class SimulationProgress implements Progress, AutoCloseable {
  /** Fewer accesses take about a second or two. */
  private static final long LONG = 10_000_000;

  private static final Bar.Unit MILLIONS = new Bar.Unit(" M reads", 1_000_000);

  private final @Nullable Bar bar;

  private SimulationProgress(@Nullable Bar bar) {
    this.bar = bar;
  }

  /**
   * Begins.
   *
   * @param simulations how many of the scenario there will be
   * @param columns those that the terminal of the error output has now; 0 where it is none
   */
  static SimulationProgress of(
      Scenario scenario, int simulations, PrintWriter err, IntSupplier columns) {
    long readers = scenario.jobs();
    if (scenario.cluster().coordination() == Scenario.Coordination.NONE) {
      readers *= scenario.cluster().nodes();
    }
    // An estimate: not every order reads as many as there are items.
    double accesses =
        (double) scenario.dataset().items() * scenario.epochs() * readers * simulations;
    if (columns.getAsInt() == 0 || accesses < LONG) {
      return new SimulationProgress(null);
    }
    return new SimulationProgress(new Bar("simulating", (long) accesses, MILLIONS, err, columns));
  }

  @Override
  public void advanced(long accesses) {
    if (bar != null) {
      bar.advance(accesses);
    }
  }

  /** All simulations have ended. */
  void finish() {
    if (bar != null) {
      bar.finish();
    }
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
  }
}
