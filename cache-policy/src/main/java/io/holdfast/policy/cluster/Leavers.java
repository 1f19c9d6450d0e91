package io.holdfast.policy.cluster;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/**
 * The residents of a node that make way for others in a planned epoch, and when. These are the
 * items that the node has, and that it does not have at the end of the epoch. Such an item makes
 * way
 *
 * <ul>
 *   <li>at once, if no rank reads it in this epoch, or its reader asks another node for it;
 *   <li>if the node reads it itself: once its rank has opened {@code lag} files more;
 *   <li>if another node reads it from here: once it was sent there.
 * </ul>
 *
 * <p>So no read of this epoch misses an item that the plan says is here. A state machine, not
 * thread-safe. Cost: 16 bytes an item that makes way, and a bit for each item.
 */
public final class Leavers {
  /** No item. */
  public static final int NONE = -1;

  private final PlannedEpoch plan;
  private final int lag;
  private final Queue<Integer> ready = new ArrayDeque<>();

  /** The items that each rank of this node is to read before they make way, in order. */
  private final Map<Integer, Queue<Integer>> unread = new HashMap<>();

  /** The items that are to be sent before they make way. */
  private final BitSet unsent = new BitSet();

  /**
   * Begins an epoch.
   *
   * @param residents the items that this node may have; what is not there is returned all the same
   * @param lag how many files a rank may have open, or has opened too early
   */
  public Leavers(PlannedEpoch plan, BitSet residents, int lag) {
    this.plan = plan;
    this.lag = lag;
    add(residents);
  }

  /** Adds items that this node may have. */
  public void add(BitSet residents) {
    List<Integer> own = new ArrayList<>();
    for (int item = residents.nextSetBit(0); item >= 0; item = residents.nextSetBit(item + 1)) {
      if (plan.hasAtEnd(item)) {
        continue;
      }
      if (plan.isOwn(item)) {
        own.add(item);
      } else if (plan.reader(item) != PlannedEpoch.NONE && plan.isHolder(item)) {
        unsent.set(item);
      } else {
        ready.add(item);
      }
    }
    own.sort(Comparator.comparingInt(plan::position));
    own.forEach(
        item -> unread.computeIfAbsent(plan.rank(item), rank -> new ArrayDeque<>()).add(item));
  }

  /** Learns how many files a rank of this node has opened in this epoch, up to the furthest one. */
  public void opened(int rank, int position) {
    Queue<Integer> items = unread.get(rank);
    while (items != null && !items.isEmpty() && plan.position(items.peek()) + lag < position) {
      ready.add(items.remove());
    }
  }

  /** Learns that this node has sent an item to the node that reads it. */
  public void sent(int item) {
    if (unsent.get(item)) {
      unsent.clear(item);
      ready.add(item);
    }
  }

  /** Returns the next item that makes way now, or {@link #NONE}. Each is returned once. */
  public int poll() {
    Integer item = ready.poll();
    return item == null ? NONE : item;
  }

  /** Returns the items that have not been returned, by {@link #poll}. */
  public BitSet rest() {
    BitSet rest = (BitSet) unsent.clone();
    ready.forEach(rest::set);
    unread.values().forEach(items -> items.forEach(rest::set));
    return rest;
  }

  /** Returns how many items could make way now. */
  public int ready() {
    return ready.size();
  }
}
