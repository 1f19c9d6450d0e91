package io.holdfast.fs.plan;

import io.holdfast.fs.transit.Item;
import io.holdfast.policy.cluster.PlannedEpoch;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A plan that is not followed any more: where its items probably are. Immutable.
 *
 * @param members the addresses of all nodes, by their numbers
 * @param now the epoch in which the plan ended
 * @param next the epoch after it; null if that was not planned
 * @param read how many files each rank had read in that epoch, as far as this node knows
 */
record FormerPlan(
    PlanFiles files,
    List<String> members,
    PlannedEpoch now,
    @Nullable PlannedEpoch next,
    int read) {
  /** Returns the address of the node that probably has an item; empty if none does. */
  String holder(Item item) {
    int place = files.place(item);
    if (place == PlanFiles.NONE) {
      return "";
    }
    boolean wasRead = now.reader(place) != PlannedEpoch.NONE && now.position(place) < read;
    int holder = (wasRead && next != null ? next : now).holder(place);
    return holder == PlannedEpoch.NONE ? "" : members.get(holder);
  }
}
