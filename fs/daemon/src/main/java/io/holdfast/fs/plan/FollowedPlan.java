package io.holdfast.fs.plan;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.residency.Swaps;
import io.holdfast.fs.transit.Item;
import io.holdfast.policy.cluster.Leavers;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The plan that this node follows, if there is one: where items are looked for, which of them the
 * node keeps, and which residents make way. After a plan, residents that are not where they belong
 * make way for those that are, and the nodes that had an item by the plan are asked for it first.
 * Thread-safe; no method waits, but for {@link #mark} and {@link #findStrays}.
 */
final class FollowedPlan implements Planned, Swaps {
  /** The most residents that make way for one item. */
  private static final int MOST_VICTIMS = 64;

  private final PlanParts parts;
  private final Supplier<@Nullable PlanPeers> peers;
  private final Strays strays;
  private volatile @Nullable ActivePlan active;

  /**
   * Begins without a plan.
   *
   * @param peers returns the other nodes; null until they are known
   */
  FollowedPlan(PlanParts parts, Supplier<@Nullable PlanPeers> peers) {
    this.parts = parts;
    this.peers = peers;
    strays = new Strays(parts.mark());
  }

  // --- its beginning and its end

  /** Returns the plan; null if none is followed. */
  @Nullable ActivePlan plan() {
    return active;
  }

  boolean isFollowed() {
    return active != null;
  }

  /** Has the next daemon of the mount look for strays after a plan of so many nodes. */
  void mark(int nodes) {
    strays.mark(nodes);
  }

  /** Follows a plan. */
  void begin(ActivePlan plan) {
    strays.planned();
    active = plan;
  }

  /** Follows the plan no more; returns it, or null if there was none. */
  @Nullable ActivePlan end() {
    ActivePlan plan = active;
    if (plan != null) {
      strays.ended(plan.former());
      active = null;
    }
    return plan;
  }

  /** Learns that the nodes have changed. */
  void viewChanged() {
    strays.viewChanged();
  }

  /** Looks for residents that belong elsewhere, after a plan; takes some time. */
  void findStrays(int nodes) {
    PlanPeers all = peers.get();
    if (active == null && all != null && nodes > 1) {
      strays.find(parts.residents(), all::isPlacedHere);
      strays.forgetIfDrained(nodes);
    }
  }

  /** Tells whether there is neither a plan nor a resident that is elsewhere because of one. */
  boolean isSettled() {
    return active == null && !strays.areAfterPlan();
  }

  // --- where items are

  @Override
  public @Nullable PlannedItem find(Item item) {
    ActivePlan plan = active;
    int place = place(plan, item);
    return plan == null || place == PlanFiles.NONE ? null : plan.find(place);
  }

  @Override
  public boolean keeps(Item item) {
    ActivePlan plan = active;
    int place = place(plan, item);
    return plan != null && place != PlanFiles.NONE && plan.keeps(place);
  }

  @Override
  public String formerHolder(Item item) {
    return strays.formerHolder(item);
  }

  @Override
  public void notThere(Item item) {
    ActivePlan plan = active;
    int place = place(plan, item);
    if (plan != null && place != PlanFiles.NONE) {
      plan.notThere(place);
    }
  }

  @Override
  public boolean fetched(Item item) {
    ActivePlan plan = active;
    int place = place(plan, item);
    if (plan == null || place == PlanFiles.NONE || !plan.isPromised(place)) {
      return false;
    }
    plan.notThere(place);
    return true;
  }

  @Override
  public void sent(Item item, String to) {
    ActivePlan plan = active;
    int place = place(plan, item);
    if (plan != null && place != PlanFiles.NONE) {
      plan.sent(place, to);
    }
  }

  private static int place(@Nullable ActivePlan plan, Item item) {
    return plan == null ? PlanFiles.NONE : plan.files().place(item);
  }

  // --- the items that make way

  @Override
  public boolean wants(Item item) {
    ActivePlan plan = active;
    if (plan == null) {
      PlanPeers all = peers.get();
      return !strays.isEmpty() && all != null && all.isPlacedHere(item);
    }
    int place = place(plan, item);
    return place != PlanFiles.NONE && plan.keeps(place) && plan.hasLeaver();
  }

  /** Where one item does not leave enough room, others are released with it. */
  @Override
  public @Nullable ItemKey victim(Item item, long freePages, long slackPages) {
    long free = parts.residents().capacity() - parts.residents().bytes();
    long needed = parts.residents().weight(item);
    for (int i = 0; i < MOST_VICTIMS; i++) {
      Item leaver = nextLeaver();
      if (leaver == null) {
        return null;
      }
      free += parts.residents().weight(leaver);
      if (free >= needed) {
        return leaver.key();
      }
      parts.residents().release(leaver);
    }
    return null;
  }

  private @Nullable Item nextLeaver() {
    ActivePlan plan = active;
    if (plan == null) {
      PlanPeers all = peers.get();
      return all == null ? null : strays.poll(parts.residents(), all::isPlacedHere);
    }
    for (int place = plan.pollLeaver(); place != Leavers.NONE; place = plan.pollLeaver()) {
      Item item = parts.items().item(plan.files().id(place));
      if (item != null && parts.residents().has(item)) {
        return item;
      }
    }
    return null;
  }
}
