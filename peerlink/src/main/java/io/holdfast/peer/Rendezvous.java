package io.holdfast.peer;

/**
 * Weighted rendezvous hashing: chooses the node that owns an item. Every node computes the same
 * owner without asking another. Each node owns a share in proportion to its weight. When a node
 * comes or goes, only its own items change their owner.
 *
 * <p>The score of a node for an item is -weight / ln(u), where u is uniform in (0, 1) and a
 * function of node and item alone; the greatest score wins (Thaler and Ravishankar, "A Name-Based
 * Mapping Scheme for Rendezvous", 1996; the weights after Resch, "New Hashing Algorithms for Data
 * Storage", SDC 2015).
 *
 * <p>Pure functions. Cost: one logarithm a node, or a hash a node for {@link #firstTwo}.
 */
public final class Rendezvous {
  private static final double UNIT = 0x1p-53;

  /** Less than 1 by more than rounding can enlarge a score. */
  private static final double ROUNDING = 1 - 1e-9;

  private static final long FNV_BASIS = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  private Rendezvous() {}

  /**
   * Returns the index of the owner.
   *
   * @param item hash of the item's name
   * @param nodes hashes of the nodes' names
   * @param weights weights of the nodes; a node of weight 0 owns nothing
   * @throws IllegalArgumentException if no node has a weight above 0
   */
  public static int owner(long item, long[] nodes, double[] weights) {
    int owner = next(item, nodes, weights, -1);
    if (owner < 0) {
      throw new IllegalArgumentException("none of " + nodes.length + " nodes has a weight above 0");
    }
    return owner;
  }

  /**
   * Returns the index of the node that would own an item without one of the nodes.
   *
   * @param without the index of that node, or -1 for none
   * @return -1 where no other node has a weight above 0
   */
  public static int next(long item, long[] nodes, double[] weights, int without) {
    int owner = -1;
    double best = 0;
    for (int i = 0; i < nodes.length; i++) {
      double score = i == without ? 0 : score(item, nodes[i], weights[i]);
      if (score > best) {
        owner = i;
        best = score;
      }
    }
    return owner;
  }

  /** Prepares the hashes of the nodes' names for {@link #firstTwo}. */
  static long[] prepared(long[] nodes) {
    long[] prepared = new long[nodes.length];
    for (int i = 0; i < nodes.length; i++) {
      prepared[i] = mixed(nodes[i]);
    }
    return prepared;
  }

  /**
   * Returns the results of {@link #owner} and {@link #next} in one pass and with few logarithms:
   * since -ln(u) is at least 1 - u, a score is at most weight / (1 - u), and this bound alone
   * excludes most nodes from the first two.
   *
   * @param prepared from {@link #prepared}
   * @return the owner's index in the upper 32 bits, that of the next in the lower; -1 for none
   */
  static long firstTwo(long item, long[] prepared, double[] weights) {
    int owner = -1;
    int next = -1;
    double best = 0;
    double second = 0;
    for (int i = 0; i < prepared.length; i++) {
      double uniform = uniform(mixed(item ^ prepared[i]));
      if (weights[i] > second * (1 - uniform) * ROUNDING) {
        double score = -weights[i] / Math.log(uniform);
        if (score > best) {
          next = owner;
          second = best;
          owner = i;
          best = score;
        } else if (score > second) {
          next = i;
          second = score;
        }
      }
    }
    return (long) owner << Integer.SIZE | Integer.toUnsignedLong(next);
  }

  /** Hashes a name: FNV-1a (Fowler, Noll and Vo), finalized so that similar names differ. */
  static long hash(byte[] name) {
    long hash = FNV_BASIS;
    for (byte each : name) {
      hash = (hash ^ (each & 0xff)) * FNV_PRIME;
    }
    return mixed(hash);
  }

  private static double score(long item, long node, double weight) {
    return -weight / Math.log(uniform(mixed(item ^ mixed(node))));
  }

  /** Returns a number from 53 bits of the hash; never 0. */
  private static double uniform(long hash) {
    return ((hash >>> 11) + 0.5) * UNIT;
  }

  /** The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
  private static long mixed(long value) {
    long mixed = value + 0x9e3779b97f4a7c15L;
    mixed = (mixed ^ mixed >>> 30) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
    return mixed ^ mixed >>> 31;
  }
}
