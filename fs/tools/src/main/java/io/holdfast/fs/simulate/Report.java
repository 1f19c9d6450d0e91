package io.holdfast.fs.simulate;

import io.holdfast.policy.simulator.Run;
import io.holdfast.policy.simulator.Scenario;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The results of an experiment. Immutable.
 *
 * @param scenario the scenario that was played
 * @param runs in the order in which they are shown
 * @param prediction their times; null if the rates are not known
 */
public record Report(Scenario scenario, List<Run> runs, @Nullable Prediction prediction) {

  /** Returns the share of the dataset that a run's capacity holds, on each node; at most 1. */
  double share(Run run) {
    return Math.min(1, (double) run.capacity() / scenario.dataset().weight());
  }

  /** Tells whether nodes may push items to others that know the orders. */
  boolean hasPushes() {
    return scenario.cluster().coordination() == Scenario.Coordination.KNOWN;
  }

  /** Returns tables for people. */
  public String text() {
    return new TextReport(this).text();
  }

  /** Returns comma-separated values, with a heading. */
  public String csv() {
    return CsvReport.of(this);
  }

  /** Returns one JSON object. */
  public String json() {
    return JsonReport.of(this);
  }
}
