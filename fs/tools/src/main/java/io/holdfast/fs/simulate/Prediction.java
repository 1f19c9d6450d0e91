package io.holdfast.fs.simulate;

import io.holdfast.policy.simulator.FetchModel;
import io.holdfast.policy.simulator.Run;
import io.holdfast.policy.simulator.Scenario;

/**
 * Predicts the times of a simulation. Rates are in bytes per second. The rates of origin, memory
 * and network are for each node, whose jobs share them; the demand is for each job on each node.
 * Immutable.
 */
public final class Prediction {
  private final FetchModel node;
  private final int nodes;
  private final int jobs;
  private final long weight;

  /**
   * Creates a prediction.
   *
   * @param job the rates, with the demand of one job
   */
  public Prediction(FetchModel job, Scenario scenario) {
    this.nodes = scenario.cluster().nodes();
    this.jobs = scenario.jobs();
    this.node =
        new FetchModel(job.origin(), job.memory(), job.network(), job.demand() * scenario.jobs());
    this.weight = scenario.dataset().weight();
  }

  /** Returns the time of an epoch in seconds, to the millisecond. */
  public double seconds(Run.Epoch epoch) {
    return epoch.bytes() == 0 ? 0 : Math.round(1000 * node.seconds(epoch) / nodes) / 1000.0;
  }

  /** Returns the bytes per second that each job gets on each node. */
  public long speed(Run.Epoch epoch) {
    return Math.round(node.speed(epoch.byteHitRatio(), epoch.peerShare()) / jobs);
  }

  /**
   * Returns the capacity, in bytes, beyond which more memory brings nothing. That is for a single
   * node whose byte hit ratio is the share of the dataset that fits, as with MinIO. 0 if no memory
   * is needed; the size of the dataset if even that leaves the demand unmet.
   */
  public long sufficientCapacity() {
    return (long) Math.ceil(node.sufficientHitRatio() * weight);
  }

  /** Tells whether memory itself is slower than the demand. */
  public boolean memoryIsTooSlow() {
    return node.demand() > node.memory() && node.demand() > node.origin();
  }
}
