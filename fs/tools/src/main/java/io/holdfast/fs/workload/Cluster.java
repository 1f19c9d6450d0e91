package io.holdfast.fs.workload;

/**
 * Equal nodes. Immutable.
 *
 * @param nodes how many
 * @param memory bytes for the datasets of a node's jobs
 * @param accelerators of each node; {@link #UNBOUNDED} where nothing is said
 */
public record Cluster(int nodes, long memory, int accelerators) {
  /** So many accelerators that no job ever waits for one. */
  public static final int UNBOUNDED = Integer.MAX_VALUE;
}
