package io.holdfast.policy.cluster;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.Set;
import java.util.function.IntToLongFunction;

/**
 * Decides which nodes keep which items, where each epoch reads every item once, on one of the
 * nodes, and the readers of the coming epochs are known. The nodes serve each other from memory
 * (cooperative caching: Dahlin et al., "Cooperative Caching: Using Remote Client Memory to Improve
 * File System Performance", OSDI 1994). All nodes have the same capacity.
 *
 * <p><b>Idea.</b> A read moves no bytes between nodes only if the reader has kept the item since it
 * last read it. So a node keeps, of the items that it reads, those that it reads again soonest:
 * Belady's MIN on each node ("A study of replacement algorithms for a virtual-storage computer",
 * IBM Systems Journal 5(2), 1966), with the epoch of the next use as its time. The cluster sets two
 * limits to that:
 *
 * <ul>
 *   <li>An item that comes from the origin is always kept while the cluster has room for it, which
 *       is free capacity, and the place of second copies. Where the reader has none, another node
 *       has: the item is pushed there, to its next reader if that is possible.
 *   <li>An item's last copy is evicted only where the dataset does not fit into the cluster, only
 *       after the item was read in this epoch, and only if an item that comes from the origin in
 *       this epoch takes up the room: the same one, or a later one. In the latter case the newcomer
 *       comes from another node, which then gives its own copy up. A second copy is evicted only if
 *       its node does not read the item any more in this epoch.
 * </ul>
 *
 * <p>So the hits of the current epoch stay, and at its end the cluster has as many items as fit.
 * With items of one weight, each later epoch fetches from the origin what does not fit, as with a
 * single copy that is never evicted, and never more. With mixed weights, less than the largest
 * item's weight is without use on each node, as long as 64 items are enough to make room for one.
 *
 * <p><b>Deviations.</b> Items do not move ahead of their readers, since that moves no byte less:
 * each read that is spared costs a push. Who fetches items ahead of a read changes when bytes move,
 * not how many. The time of a next use within an epoch is not looked at: the share of bytes that
 * move differs by .001 with it.
 *
 * <p>Real nodes are never exactly equally far. With a <em>lag</em>, an item's copies make way only
 * once so many other items have been read after it, so that nodes that are no further apart than
 * that find what they were promised.
 *
 * <p>A reader that was not announced costs hits, never a limit: no node keeps more than its
 * capacity, and no item is lost that was not read in this epoch.
 *
 * <p>Cost: a read takes time in proportion to the known epochs; an epoch's beginning, to items and
 * copies. 68 bytes an item, 24 a copy. Not thread-safe.
 */
public final class CooperativeCache {
  /** The source of an item that no node has. */
  public static final int ORIGIN = -1;

  /** The reader of an item that no node reads in an epoch. */
  static final int NOBODY = -1;

  /** The most epochs that may be known: the current one and those after it. */
  public static final int MOST_KNOWN = 16;

  /** The most items. */
  public static final int MOST_ITEMS = (Integer.MAX_VALUE - 8) / MOST_KNOWN;

  /** The distance of a next use that is not known. */
  private static final int NEVER = MOST_KNOWN;

  /**
   * Lists of a node and a kind: one for each known epoch, and one for copies without a next use.
   */
  private static final int LISTS = MOST_KNOWN + 1;

  /** Copies of items that other nodes have, too. */
  private static final int DUPLICATE = 0;

  /** Copies of items that no other node has, and that have been read in this epoch. */
  private static final int LAST = 1;

  private static final int KINDS = 2;

  /** The most copies that make way for one. */
  private static final int MOST_VICTIMS = 64;

  /** Learns what the nodes are to do, in order, before {@link #read} returns. */
  public interface Moves {
    /** A node keeps the item that it has just read. */
    void kept(int node, int item);

    /** A node gives the item that it has just read to another one, which keeps it. */
    void pushed(int from, int to, int item);

    /** A node evicts an item. */
    void evicted(int node, int item);
  }

  private final int nodes;
  private final int items;
  private final long capacity;
  private final IntToLongFunction weights;
  private final Moves moves;

  /** The reader of an item in an epoch is at {@code item * MOST_KNOWN + epoch % MOST_KNOWN}. */
  private final int[] readers;

  /** The items that have been read in this epoch. */
  private final BitSet read;

  /** The items that have been read and whose copies may make way: all but the last {@link #lag}. */
  private final BitSet settled;

  /** The items that were read last, which are not settled, from the oldest on. */
  private final ArrayDeque<Integer> unsettled = new ArrayDeque<>();

  /** The items among these that move to their readers once they are settled. */
  private final Set<Integer> moving = new HashSet<>();

  private final int lag;

  private final Copies copies;
  private final long[] free;
  private final int[] victims = new int[MOST_VICTIMS];
  private int victimCount;
  private int epoch = -1;
  private int announced;

  /** Capacity of all nodes beyond one copy of each item that has one. */
  private long spare;

  /** Weight of the items that have no copy and are still to be read in this epoch. */
  private long missing;

  /**
   * Creates caches that are empty, in which no epoch is known.
   *
   * @param capacity the greatest weight of a node's items
   * @param items number of items, counted from 0
   * @param weights each item's weight, at least 1; always the same
   * @throws IllegalArgumentException if a number is below 1, or there are more than {@link
   *     #MOST_ITEMS}
   */
  public CooperativeCache(
      int nodes, long capacity, int items, IntToLongFunction weights, Moves moves) {
    this(nodes, capacity, items, weights, moves, 0);
  }

  /**
   * Creates the same with a lag.
   *
   * @param lag after how many other reads of an epoch an item may make way, at least 0
   */
  CooperativeCache(
      int nodes, long capacity, int items, IntToLongFunction weights, Moves moves, int lag) {
    if (nodes < 1 || capacity < 1 || items < 1 || items > MOST_ITEMS) {
      throw new IllegalArgumentException(
          "%d nodes of capacity %d, %d items: each is at least 1, and there are at most %d items"
              .formatted(nodes, capacity, items, MOST_ITEMS));
    }
    this.nodes = nodes;
    this.items = items;
    this.capacity = capacity;
    this.weights = weights;
    this.moves = moves;
    readers = new int[items * MOST_KNOWN];
    read = new BitSet(items);
    settled = new BitSet(items);
    this.lag = lag;
    copies = new Copies(items, Math.multiplyExact(KINDS * LISTS, nodes));
    free = new long[nodes];
    Arrays.fill(free, capacity);
    spare = total();
  }

  /** Returns the capacity of all nodes together, or the greatest number there is. */
  private long total() {
    return capacity > Long.MAX_VALUE / nodes ? Long.MAX_VALUE : capacity * nodes;
  }

  /**
   * Learns of a copy that is there before the first epoch.
   *
   * @return false if the node has it already, or has no room for it: it does not count then
   */
  boolean put(int node, int item) {
    long weight = weights.applyAsLong(item);
    if (weight > free[node] || copies.at(item, node) != Copies.NONE) {
      return false;
    }
    spare -= copies.first(item) == Copies.NONE ? weight : 0;
    copies.add(item, node);
    free[node] -= weight;
    return true;
  }

  /**
   * Learns the readers of the epoch after those that are known. Copies that are there learn of it
   * when the next epoch begins.
   *
   * @param readersOfItems for each item the node that reads it, from 0; {@link #NOBODY} if none
   *     does
   * @throws IllegalStateException if {@link #MOST_KNOWN} epochs are known already
   */
  public void announce(int[] readersOfItems) {
    if (announced == Math.max(epoch, 0) + MOST_KNOWN) {
      throw new IllegalStateException(MOST_KNOWN + " epochs are known already");
    }
    for (int item = 0; item < items; item++) {
      readers[item * MOST_KNOWN + announced % MOST_KNOWN] = readersOfItems[item];
    }
    announced++;
  }

  /**
   * Begins an epoch.
   *
   * @throws IllegalStateException if its readers were not {@linkplain #announce announced}
   */
  public void nextEpoch() {
    if (epoch + 1 == announced) {
      throw new IllegalStateException("the readers of epoch " + announced + " are not known");
    }
    settleAll();
    epoch++;
    read.clear();
    settled.clear();
    missing = 0;
    for (int item = 0; item < items; item++) {
      if (copies.first(item) == Copies.NONE && reader(item, 0) != NOBODY) {
        missing += weights.applyAsLong(item);
      }
    }
    for (int copy = 0; copy < copies.end(); copy++) {
      if (copies.item(copy) != Copies.NONE) {
        link(copy);
      }
    }
  }

  /**
   * Learns that a node reads an item, and decides who keeps it. Not before the first epoch has
   * begun.
   *
   * @return the node from which the item comes: the reader itself, another one, or {@link #ORIGIN}
   */
  public int read(int node, int item) {
    boolean again = read.get(item);
    read.set(item);
    if (lag == 0) {
      settled.set(item);
    } else if (!again) {
      unsettled.add(item);
      if (unsettled.size() > lag) {
        settle(unsettled.remove());
      }
    }
    int first = copies.first(item);
    if (first == Copies.NONE) {
      missing -= again || reader(item, 0) == NOBODY ? 0 : weights.applyAsLong(item);
      admit(node, item);
      return ORIGIN;
    }
    int own = copies.at(item, node);
    int source = own == Copies.NONE ? first : own;
    link(source);
    if (source != own) {
      share(node, item, source);
    }
    return source == own ? node : copies.node(source);
  }

  /** Lets the copies of all items that were read make way from now on. */
  void settleAll() {
    while (!unsettled.isEmpty()) {
      settle(unsettled.remove());
    }
  }

  /** Lets an item's copies make way from now on. */
  private void settle(int item) {
    settled.set(item);
    boolean moves = moving.remove(item);
    int next;
    for (int copy = copies.first(item); copy != Copies.NONE; copy = next) {
      next = copies.next(copy);
      if (moves && copies.node(copy) != reader(item, 0)) {
        evict(copy);
      } else {
        link(copy);
      }
    }
  }

  /** Keeps an item that comes from the origin, if there is room for it, or it is worth more. */
  private void admit(int node, int item) {
    long weight = weights.applyAsLong(item);
    if (chooseVictims(node, weight, 0, distance(node, item), weight)) {
      keep(node, item);
      moves.kept(node, item);
    } else if (spare > missing) {
      int other = withRoom(item, weight);
      if (other != Copies.NONE) {
        keep(other, item);
        moves.pushed(node, other, item);
      }
    }
  }

  /**
   * Chooses victims on a node that has room for an item beside last copies: its next reader, or
   * else any.
   */
  private int withRoom(int item, long weight) {
    int first = epoch + 1 < announced ? Math.max(0, reader(item, 1)) : 0;
    for (int i = 0; i < nodes; i++) {
      int node = (first + i) % nodes;
      if (chooseVictims(node, weight, 0, NEVER, 0)) {
        return node;
      }
    }
    return Copies.NONE;
  }

  /** Keeps an item that comes from another node, if the reader reads it again soon enough. */
  private void share(int node, int item, int source) {
    long weight = weights.applyAsLong(item);
    int distance = distance(node, item);
    if (spare >= missing) {
      if (distance < NEVER && chooseVictims(node, weight, distance, NEVER, 0)) {
        keep(node, item);
        moves.kept(node, item);
      }
      return;
    }
    // the room of a second copy would be missed: the item moves, or stays where it is
    boolean sooner = distance < distance(copies.node(source), item);
    if (sooner && copies.isOnly(source) && chooseVictims(node, weight, distance, distance, 0)) {
      keep(node, item);
      moves.kept(node, item);
      if (lag == 0) {
        evict(source);
      } else {
        moving.add(item);
      }
    }
  }

  /**
   * Chooses copies that make way on a node: duplicates, then last copies, those that are used
   * latest first.
   *
   * @param duplicatesBeyond duplicates whose next use is further than that may be chosen
   * @param lastBeyond the same for last copies
   * @param gain weight by which the item adds to what the cluster has
   * @return whether there is room then, and what the cluster loses comes back in this epoch
   */
  private boolean chooseVictims(
      int node, long weight, int duplicatesBeyond, int lastBeyond, long gain) {
    victimCount = 0;
    long lacking = collect(node, DUPLICATE, duplicatesBeyond, weight - free[node]);
    long left = collect(node, LAST, lastBeyond, lacking);
    long lost = lacking - left;
    return left <= 0 && (lost == 0 || spare + lost - gain <= missing);
  }

  /** Adds victims until there is room; returns the weight that is still lacking. */
  private long collect(int node, int kind, int beyond, long needed) {
    long lacking = needed;
    for (int distance = NEVER; distance > beyond && lacking > 0; distance--) {
      int copy = copies.head(list(node, kind, distance));
      while (copy != Copies.NONE && lacking > 0 && victimCount < MOST_VICTIMS) {
        victims[victimCount++] = copy;
        lacking -= weights.applyAsLong(copies.item(copy));
        copy = copies.following(copy);
      }
    }
    return lacking;
  }

  /** Evicts the chosen victims, and keeps an item. */
  private void keep(int node, int item) {
    for (int i = 0; i < victimCount; i++) {
      evict(victims[i]);
    }
    int other = copies.first(item);
    int copy = copies.add(item, node);
    long weight = weights.applyAsLong(item);
    free[node] -= weight;
    if (other == Copies.NONE) {
      spare -= weight;
    } else {
      link(other);
    }
    link(copy);
  }

  private void evict(int copy) {
    int item = copies.item(copy);
    int node = copies.node(copy);
    long weight = weights.applyAsLong(item);
    copies.remove(copy);
    free[node] += weight;
    int other = copies.first(item);
    if (other == Copies.NONE) {
      spare += weight;
    } else if (copies.isOnly(other)) {
      link(other);
    }
    moves.evicted(node, item);
  }

  /** Puts a copy into the list of its next use, or into none if it must not be evicted. */
  private void link(int copy) {
    int item = copies.item(copy);
    boolean last = copies.isOnly(copy);
    if (last && !settled.get(item)) {
      copies.unlink(copy);
      return;
    }
    int node = copies.node(copy);
    boolean waits = !settled.get(item) && (read.get(item) || reader(item, 0) == node);
    int distance = waits ? 0 : distance(node, item);
    copies.link(copy, list(node, last ? LAST : DUPLICATE, distance));
  }

  /** Returns in how many epochs a node reads an item again, at least 1. */
  private int distance(int node, int item) {
    int known = announced - epoch;
    for (int ahead = 1; ahead < known; ahead++) {
      if (reader(item, ahead) == node) {
        return ahead;
      }
    }
    return NEVER;
  }

  private int reader(int item, int ahead) {
    return readers[item * MOST_KNOWN + (epoch + ahead) % MOST_KNOWN];
  }

  private int list(int node, int kind, int distance) {
    int slot = distance == NEVER ? NEVER : (epoch + distance) % MOST_KNOWN;
    return (node * KINDS + kind) * LISTS + slot;
  }

  /** Returns the weight of the items that a node keeps: never more than its capacity. */
  public long weight(int node) {
    return capacity - free[node];
  }

  /**
   * Recomputes what is counted.
   *
   * @throws IllegalStateException if a figure differs, or a node keeps more than its capacity
   */
  public void check() {
    long[] room = new long[nodes];
    Arrays.fill(room, capacity);
    long beyond = total();
    long lacking = 0;
    for (int item = 0; item < items; item++) {
      long weight = weights.applyAsLong(item);
      int first = copies.first(item);
      beyond -= first == Copies.NONE ? 0 : weight;
      boolean toCome = !read.get(item) && reader(item, 0) != NOBODY;
      lacking += first == Copies.NONE && toCome ? weight : 0;
      for (int copy = first; copy != Copies.NONE; copy = copies.next(copy)) {
        room[copies.node(copy)] -= weight;
      }
    }
    boolean within = Arrays.stream(room).allMatch(each -> each >= 0);
    if (!within || !Arrays.equals(room, free) || beyond != spare || lacking != missing) {
      throw new IllegalStateException(
          "free %s, counted %s; spare %d, counted %d; missing %d, counted %d"
              .formatted(
                  Arrays.toString(room), Arrays.toString(free), beyond, spare, lacking, missing));
    }
  }
}
