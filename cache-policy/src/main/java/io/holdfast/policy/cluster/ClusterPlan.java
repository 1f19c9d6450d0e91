package io.holdfast.policy.cluster;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.IntToLongFunction;

/**
 * Computes what each node of a cluster keeps in each epoch, and whom it asks for what, where the
 * orders of all ranks are known. A pure function of its arguments: nodes that have equal ones
 * compute equal plans without a message.
 *
 * <p><b>Idea.</b> {@link CooperativeCache}, played over the reads of all ranks, which take turns.
 * The nodes follow the outcome of each epoch, not its steps: what a node has at the beginning and
 * at the end, and the node that has an item when its reader wants it. A cache that pushes an item
 * to another node is a reader that asks that node, which fetches the item from the origin and keeps
 * it.
 *
 * <p>Cost: {@link CooperativeCache}'s memory and time, and 10 bytes an item for each {@link
 * PlannedEpoch}. Not thread-safe.
 */
public final class ClusterPlan {
  /** The most nodes. */
  public static final int MOST_NODES = 64;

  private static final int NOBODY = CooperativeCache.NOBODY;

  private final int self;
  private final int[] nodeOfRank;
  private final IntFunction<int[]> orders;
  private final IntToLongFunction weights;
  private final int items;
  private final CooperativeCache cache;
  private final BitSet has = new BitSet();
  private int next;
  private int announced;

  /** The node that was just given an item, or that has just kept it. */
  private int taker = NOBODY;

  /**
   * The nodes. Immutable.
   *
   * @param nodeOfRank the node of each rank
   * @param capacity the greatest weight of each node's items
   * @param lag how many reads of a rank the nodes may be apart: an item may make way only once
   *     every rank has read so many others after it
   */
  public record Cluster(int nodes, List<Integer> nodeOfRank, long capacity, int lag) {
    /** Checks the numbers. */
    public Cluster {
      nodeOfRank = List.copyOf(nodeOfRank);
      boolean ranks = nodeOfRank.stream().allMatch(node -> node >= 0 && node < nodes);
      if (nodes < 1 || nodes > MOST_NODES || nodeOfRank.isEmpty() || !ranks || lag < 0) {
        throw new IllegalArgumentException(
            "%d nodes, at most %d, with ranks on %s and a lag of %d"
                .formatted(nodes, MOST_NODES, nodeOfRank, lag));
      }
    }
  }

  /**
   * Creates a plan that begins with an epoch.
   *
   * @param self the node whose part is wanted
   * @param first the number of the first epoch
   * @param orders returns the items of an epoch in the order of their turns: the first of each
   *     rank, then the second of each, and so on
   * @param weights each item's weight, at least 1; always the same
   * @param residents the items that each node has; what has no room is not counted
   * @throws IllegalArgumentException if there are no items, or too many
   */
  public ClusterPlan(
      Cluster cluster,
      int self,
      int first,
      IntFunction<int[]> orders,
      int items,
      IntToLongFunction weights,
      List<BitSet> residents) {
    this.self = self;
    nodeOfRank = cluster.nodeOfRank().stream().mapToInt(Integer::intValue).toArray();
    this.orders = orders;
    this.weights = weights;
    this.items = items;
    next = first;
    announced = first;
    cache =
        new CooperativeCache(
            cluster.nodes(),
            cluster.capacity(),
            items,
            weights,
            moves(),
            Math.multiplyExact(cluster.lag(), nodeOfRank.length));
    put(residents.subList(0, cluster.nodes()));
  }

  private CooperativeCache.Moves moves() {
    return new CooperativeCache.Moves() {
      @Override
      public void kept(int node, int item) {
        taken(node, item);
      }

      @Override
      public void pushed(int from, int to, int item) {
        taken(to, item);
      }

      @Override
      public void evicted(int node, int item) {
        if (node == self) {
          has.clear(item);
        }
      }
    };
  }

  private void taken(int node, int item) {
    taker = node;
    if (node == self) {
      has.set(item);
    }
  }

  /** Counts single copies first, so that no last copy is left out for a second one. */
  private void put(List<BitSet> residents) {
    for (boolean again : new boolean[] {false, true}) {
      BitSet seen = new BitSet(items);
      for (int node = 0; node < residents.size(); node++) {
        BitSet its = residents.get(node);
        for (int item = its.nextSetBit(0); item >= 0 && item < items; ) {
          if (seen.get(item) == again && cache.put(node, item) && node == self) {
            has.set(item);
          }
          seen.set(item);
          item = its.nextSetBit(item + 1);
        }
      }
    }
  }

  /** Returns the next epoch; the first time, the first one. */
  public PlannedEpoch next() {
    while (announced < next + CooperativeCache.MOST_KNOWN - 1) {
      announce(orders.apply(announced));
      announced++;
    }
    return play(orders.apply(next));
  }

  private void announce(int[] order) {
    int[] readers = new int[items];
    Arrays.fill(readers, NOBODY);
    for (int turn = 0; turn < order.length; turn++) {
      int item = order[turn];
      readers[item] = readers[item] == NOBODY ? node(turn) : readers[item];
    }
    cache.announce(readers);
  }

  private int node(int turn) {
    return nodeOfRank[turn % nodeOfRank.length];
  }

  /** Plays an epoch. An item that comes again, as samplers fill up with some, is left out then. */
  private PlannedEpoch play(int[] order) {
    int[] turns = new int[items];
    Arrays.fill(turns, PlannedEpoch.NO_TURN);
    byte[] holders = new byte[items];
    Arrays.fill(holders, (byte) PlannedEpoch.NONE);
    BitSet atBegin = (BitSet) has.clone();
    long[] bytes = new long[3];
    cache.nextEpoch();
    for (int turn = 0; turn < order.length; turn++) {
      int item = order[turn];
      if (turns[item] == PlannedEpoch.NO_TURN) {
        turns[item] = turn;
        holders[item] = (byte) holder(node(turn), item, bytes);
      }
    }
    cache.settleAll();
    PlannedEpoch played =
        new PlannedEpoch(
            next,
            self,
            nodeOfRank,
            turns,
            holders,
            atBegin,
            (BitSet) has.clone(),
            new PlannedEpoch.Shares(bytes[0], bytes[1], bytes[2]));
    next++;
    return played;
  }

  /** Has a node read an item; returns whom it asks. */
  private int holder(int reader, int item, long[] bytes) {
    taker = NOBODY;
    int source = cache.read(reader, item);
    boolean isLoss = source == CooperativeCache.ORIGIN;
    int holder = isLoss ? taker : source;
    long weight = weights.applyAsLong(item);
    if (isLoss && (holder == NOBODY ? reader : holder) == self) {
      bytes[2] += weight;
    }
    if (reader == self && !isLoss && holder == self) {
      bytes[0] += weight;
    } else if (reader == self && holder != NOBODY && holder != self) {
      bytes[1] += weight;
    }
    return holder == NOBODY ? PlannedEpoch.NONE : holder;
  }
}
