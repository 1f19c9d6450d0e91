package io.holdfast.fs.simulate;

import io.holdfast.policy.simulator.FetchModel;
import io.holdfast.policy.simulator.Run;
import io.holdfast.policy.simulator.Scenario;

/**
 * What a simulation means in time. Rates are bytes per second: those of the origin, the memory and
 * the network are of each node, shared by the jobs on it; the demand is of each job on each node.
 * Immutable.
 */
public final class Prediction {
  private final FetchModel node;
  private final int nodes;
  private final int jobs;
  private final long weight;

  /**
   * Creates one.
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

  /** Returns the seconds that an epoch takes, to the millisecond. */
  public double seconds(Run.Epoch epoch) {
    return epoch.bytes() == 0 ? 0 : Math.round(1000 * node.seconds(epoch) / nodes) / 1000.0;
  }

  /** Returns the bytes per second that each job gets on each node. */
  public long speed(Run.Epoch epoch) {
    return Math.round(node.speed(epoch.byteHitRatio(), epoch.peerShare()) / jobs);
  }

  /**
   * Returns the capacity, in bytes, beyond which more memory brings nothing to a node on its own
   * whose byte hit ratio is the share of the dataset that fits: MinIO's is. 0 where none is needed,
   * and all of the dataset where even that leaves the demand unmet.
   */
  public long sufficientCapacity() {
    return (long) Math.ceil(node.sufficientHitRatio() * weight);
  }

  /** Tells whether memory itself is slower than the demand. */
  public boolean memoryIsTooSlow() {
    return node.demand() > node.memory() && node.demand() > node.origin();
  }
}
