package io.holdfast.fs.plan;

import io.holdfast.fs.figures.PlanFigures;
import io.holdfast.policy.cluster.ClusterPlan;
import io.holdfast.policy.cluster.Leavers;
import io.holdfast.policy.cluster.PlannedEpoch;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The plan that this node follows, and where its ranks are in it. The current epoch is that of the
 * slowest rank. Two epochs are computed: the current one, and the one after it, in which faster
 * ranks may be. Thread-safe: the monitor guards all fields, but for {@link #prepare}, which one
 * thread calls.
 */
final class ActivePlan {
  /** The part of an epoch's files that may be elsewhere than planned. */
  private static final int PART_ELSEWHERE = 20;

  /** So many may be elsewhere in any case. */
  private static final int LEAST_ELSEWHERE = 32;

  private final PlanFiles files;
  private final Nodes nodes;
  private final int lag;
  private final ClusterPlan plan;

  /** The epoch in which the plan begins. */
  private final int first;

  private PlannedEpoch now;
  private Leavers leavers;
  private @Nullable PlannedEpoch next;
  private @Nullable Leavers nextLeavers;

  /** The epoch and the position of each rank of this node. */
  private final Map<Integer, Place> ranks = new HashMap<>();

  private int elsewhere;
  private long elsewhereItems;

  /** Why the plan is not followed any more; empty while it is. */
  private String broken = "";

  private record Place(int epoch, int position) {}

  /**
   * The nodes that follow the plan. Immutable.
   *
   * @param addresses the addresses of all nodes, by their numbers
   * @param self the number of this node
   * @param ownRanks its ranks
   */
  record Nodes(List<String> addresses, int self, List<Integer> ownRanks) {}

  /**
   * Computes the first epochs, which takes some time.
   *
   * @param lag how many files a rank may have open
   * @param residents the items that this node has
   */
  ActivePlan(PlanFiles files, Nodes nodes, int lag, ClusterPlan plan, BitSet residents) {
    this.files = files;
    this.nodes = nodes;
    this.lag = lag;
    this.plan = plan;
    now = plan.next();
    first = now.epoch();
    BitSet all = now.atBegin();
    all.or(residents);
    leavers = new Leavers(now, all, lag);
    nodes.ownRanks.forEach(rank -> ranks.put(rank, new Place(now.epoch(), 0)));
    prepare(() -> residents);
  }

  /**
   * Computes the next epoch if that was not done; takes some time.
   *
   * @param residents finds the items that this node has: one whose swap failed is returned by no
   *     {@link #pollLeaver}, and is to make way in the next epoch
   */
  void prepare(Supplier<BitSet> residents) {
    synchronized (this) {
      if (next != null) {
        return;
      }
    }
    BitSet found = residents.get();
    PlannedEpoch computed = plan.next();
    Leavers its = new Leavers(computed, computed.atBegin(), lag);
    synchronized (this) {
      next = computed;
      nextLeavers = its;
      found.andNot(leavers.rest());
      leavers.add(found);
      ranks.keySet().forEach(this::read);
    }
  }

  PlanFiles files() {
    return files;
  }

  synchronized String broken() {
    return broken;
  }

  /** Tells whether this node's ranks have read an epoch to its end. */
  synchronized boolean hasFollowedAnEpoch() {
    return now.epoch() > first;
  }

  private void end(String why) {
    broken = broken.isEmpty() ? why : broken;
  }

  /**
   * Learns where a rank of this node is. Waits for nothing.
   *
   * @param position how many files the rank has opened, up to the first that it has not
   */
  synchronized void opened(int rank, int epoch, int position) {
    Place before = ranks.get(rank);
    if (before == null || epoch < before.epoch) {
      end("rank %d reads epoch %d again".formatted(rank, epoch));
      return;
    }
    ranks.put(rank, new Place(epoch, position));
    int slowest = ranks.values().stream().mapToInt(Place::epoch).min().orElse(epoch);
    if (slowest > now.epoch()) {
      goOn(slowest);
    }
    read(rank);
  }

  private void goOn(int epoch) {
    if (next == null || nextLeavers == null || next.epoch() != epoch) {
      end("epoch %d began before it was planned".formatted(epoch));
      return;
    }
    BitSet late = leavers.rest();
    now = next;
    leavers = nextLeavers;
    leavers.add(late);
    next = null;
    nextLeavers = null;
    elsewhere = 0;
    ranks.keySet().forEach(this::read);
  }

  private void read(int rank) {
    Place place = ranks.getOrDefault(rank, new Place(now.epoch(), 0));
    leavers.opened(rank, place.epoch > now.epoch() ? Integer.MAX_VALUE : place.position);
  }

  /** Returns the epoch in which this node reads an item now; null if it does not. */
  private @Nullable PlannedEpoch epochOfOwn(int item) {
    boolean ownNow = now.isOwn(item);
    if (ownNow && isIn(now.rank(item), now)) {
      return now;
    }
    if (next != null && next.isOwn(item) && isIn(next.rank(item), next)) {
      return next;
    }
    return ownNow ? now : null;
  }

  private boolean isIn(int rank, PlannedEpoch epoch) {
    Place place = ranks.get(rank);
    return place != null && place.epoch == epoch.epoch();
  }

  /** Returns what the plan says of an item; null if the item is not in it. */
  synchronized @Nullable PlannedItem find(int item) {
    PlannedEpoch epoch = epochOfOwn(item);
    int holder = (epoch == null ? now : epoch).holder(item);
    boolean keeps = epoch == null ? keepsForOthers(item) : epoch.hasAtEnd(item);
    return new PlannedItem(
        holder == PlannedEpoch.NONE ? "" : address(holder), holder == nodes.self, keeps);
  }

  private String address(int node) {
    return nodes.addresses.get(node);
  }

  private boolean keepsForOthers(int item) {
    return now.hasAtEnd(item) || (next != null && next.hasAtEnd(item));
  }

  /** Tells whether this node keeps an item, whoever asks for it. */
  synchronized boolean keeps(int item) {
    PlannedEpoch epoch = epochOfOwn(item);
    return (epoch != null && epoch.hasAtEnd(item)) || (epoch == null && keepsForOthers(item));
  }

  /** Tells whether there may be an item that makes way. */
  synchronized boolean hasLeaver() {
    return leavers.ready() > 0;
  }

  /** Returns the next item that makes way; {@link Leavers#NONE} if there is none now. */
  synchronized int pollLeaver() {
    return leavers.poll();
  }

  /** Learns that this node has sent an item to another one, which may not be its reader. */
  synchronized void sent(int item, String to) {
    int reader = now.reader(item);
    if (reader != PlannedEpoch.NONE && address(reader).equals(to)) {
      leavers.sent(item);
    }
  }

  /** Learns that an item was not where the plan says. */
  synchronized void notThere(int item) {
    elsewhere++;
    elsewhereItems++;
    int share = files.size() / nodes.addresses.size();
    long most = Math.max(LEAST_ELSEWHERE, share / PART_ELSEWHERE);
    if (elsewhere > most) {
      end("%d files of epoch %d were elsewhere".formatted(elsewhere, now.epoch()));
    }
  }

  /** Tells whether this node should have an item until its reader has it. */
  synchronized boolean isPromised(int item) {
    return now.hasAtBegin(item) && now.isHolder(item);
  }

  /** Returns where items are now, for the time after the plan. */
  synchronized FormerPlan former() {
    int read = ranks.values().stream().mapToInt(Place::position).max().orElse(0);
    return new FormerPlan(files, nodes.addresses, now, next, read);
  }

  /** Returns the figures of the current epoch. */
  synchronized PlanFigures figures() {
    PlannedEpoch.Shares shares = now.shares();
    return PlanFigures.followed(
        now.epoch(), shares.local(), shares.peer(), shares.origin(), elsewhereItems);
  }
}
