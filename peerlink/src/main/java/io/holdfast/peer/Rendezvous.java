package io.holdfast.peer;

/**
 * Weighted rendezvous hashing: which node owns an item. Every node computes the same without asking
 * another, each node owns a share in proportion to its weight, and when one comes or goes only the
 * items that it owns change their owner.
 *
 * <p>The score of a node for an item is -weight / ln(u), u being uniform in (0, 1) and a function
 * of node and item alone; the greatest wins (Thaler and Ravishankar, "A Name-Based Mapping Scheme
 * for Rendezvous", 1996; the weights after Resch, "New Hashing Algorithms for Data Storage", SDC
 * 2015).
 *
 * <p>Pure functions. Cost: one logarithm a node, or a hash a node for {@link #firstTwo}.
 */
public final class Rendezvous {
  private static final double UNIT = 0x1p-53;

  /** Less than 1 by more than all that rounding can make a score too large. */
  private static final double ROUNDING = 1 - 1e-9;

  private static final long FNV_BASIS = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  private Rendezvous() {}

  /**
   * Returns the owner's place among the nodes.
   *
   * @param item hash of the item's name
   * @param nodes hashes of the nodes' names
   * @param weights of the nodes; one of weight 0 owns nothing
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
   * Returns the place of the node that would own an item if one of the nodes were not there.
   *
   * @param without the place of that node, or -1 for none
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
   * Returns what {@link #owner} and {@link #next} do, in one pass and with few logarithms: since
   * -ln(u) is at least 1 - u, a score is at most weight / (1 - u), and most nodes cannot be among
   * the first two by that alone.
   *
   * @param prepared from {@link #prepared}
   * @return the owner's place in the upper 32 bits, that of the next in the lower; -1 for nobody
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

  /** Takes 53 bits; never 0. */
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
