package io.holdfast.policy.simulator;

import io.holdfast.policy.simulator.Scenario.Coordination;

/**
 * Who reads what: everything but policy and capacity. Immutable.
 *
 * @param dataset what is read
 * @param order of each pass
 * @param epochs passes of each job
 * @param cluster the nodes, and what they know of each other
 * @param jobs those that read at the same time, through the same caches
 * @param sharedOrder all jobs read the same item at the same time, and one fetch serves all; else
 *     each has an order of its own
 * @param seed of every random choice
 */
public record Scenario(
    Dataset dataset,
    AccessOrder order,
    int epochs,
    Cluster cluster,
    int jobs,
    boolean sharedOrder,
    long seed) {

  /** What nodes know of each other. */
  public enum Coordination {
    /**
     * Each epoch's order is dealt out to the nodes. An item belongs to one node, which alone keeps
     * it and is asked before the origin.
     */
    PEERS,
    /** Each epoch's order is dealt out to the nodes; each keeps what it reads, for itself. */
    SHARDS,
    /** Every node reads all of the dataset in an order of its own, and keeps it for itself. */
    NONE
  }

  /** Tells which node an item belongs to. A pure function. */
  @FunctionalInterface
  public interface Placement {
    /**
     * Returns the node, from 0.
     *
     * @param hash of the item's name
     */
    int owner(long hash);
  }

  /**
   * Nodes of the same capacity.
   *
   * @param placement asked for {@link Coordination#PEERS}
   */
  public record Cluster(int nodes, Coordination coordination, Placement placement) {
    /** One node on its own. */
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
   * @throws IllegalArgumentException if one makes no sense
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

  /** One job on one node. */
  public static Scenario of(Dataset dataset, AccessOrder order, int epochs, long seed) {
    return new Scenario(dataset, order, epochs, Cluster.ONE, 1, true, seed);
  }

  /** The same on several nodes. */
  public Scenario on(Cluster nodes) {
    return new Scenario(dataset, order, epochs, nodes, jobs, sharedOrder, seed);
  }

  /** The same with several jobs. */
  public Scenario by(int count, boolean oneOrder) {
    return new Scenario(dataset, order, epochs, cluster, count, oneOrder, seed);
  }
}
