package io.holdfast.policy.simulator;

import io.holdfast.policy.simulator.Scenario.Coordination;

/**
 * A workload: everything but policy and capacity. Immutable.
 *
 * @param dataset the dataset
 * @param order the order of each pass
 * @param epochs passes of each job
 * @param cluster the nodes, and how they cooperate
 * @param jobs jobs that read at the same time, through the same caches
 * @param sharedOrder whether all jobs read the same item at the same time, and one fetch serves
 *     all; otherwise each job has an order of its own
 * @param seed seed of every random choice
 */
public record Scenario(
    Dataset dataset,
    AccessOrder order,
    int epochs,
    Cluster cluster,
    int jobs,
    boolean sharedOrder,
    long seed) {

  /** How nodes cooperate. */
  public enum Coordination {
    /**
     * The nodes divide each epoch's order among them. Each item belongs to one node, which alone
     * keeps it and is asked before the origin.
     */
    PEERS,
    /**
     * The nodes divide each epoch's order among them; each keeps the items that it reads, for
     * itself.
     */
    SHARDS,
    /**
     * As {@link #PEERS}, and each node knows the orders of all nodes in the coming epochs. Policies
     * that know the future still keep what their node reads, for itself.
     */
    KNOWN,
    /** Every node reads the whole dataset in an order of its own, and keeps items for itself. */
    NONE
  }

  /** Chooses the node that an item belongs to. A pure function. */
  @FunctionalInterface
  public interface Placement {
    /**
     * Returns the node, from 0.
     *
     * @param hash hash of the item's name
     */
    int owner(long hash);
  }

  /**
   * Nodes of the same capacity.
   *
   * @param placement used for {@link Coordination#PEERS} and {@link Coordination#KNOWN}
   */
  public record Cluster(int nodes, Coordination coordination, Placement placement) {
    /** Returns a cluster of one node. */
    public static final Cluster ONE = new Cluster(1, Coordination.SHARDS, hash -> 0);

    /** Checks the number of nodes. */
    public Cluster {
      if (nodes < 1) {
        throw new IllegalArgumentException("there is at least 1 node, not " + nodes);
      }
    }
  }

  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException if a number is invalid
   */
  public Scenario {
    if (epochs < 1) {
      throw new IllegalArgumentException("there is at least 1 epoch, not " + epochs);
    }
    if (jobs < 1) {
      throw new IllegalArgumentException("there is at least 1 job, not " + jobs);
    }
    if (cluster.nodes() > dataset.items()) {
      throw new IllegalArgumentException(
          "more nodes than items: " + cluster.nodes() + " nodes, " + dataset.items() + " items");
    }
  }

  /** Returns a scenario of one job on one node. */
  public static Scenario of(Dataset dataset, AccessOrder order, int epochs, long seed) {
    return new Scenario(dataset, order, epochs, Cluster.ONE, 1, true, seed);
  }

  /** Returns this scenario on several nodes. */
  public Scenario on(Cluster nodes) {
    return new Scenario(dataset, order, epochs, nodes, jobs, sharedOrder, seed);
  }

  /** Returns this scenario with several jobs. */
  public Scenario by(int count, boolean oneOrder) {
    return new Scenario(dataset, order, epochs, cluster, count, oneOrder, seed);
  }
}
