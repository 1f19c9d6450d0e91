package io.holdfast.fs.allocate;

import io.holdfast.fs.units.Columns;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Visible;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The proposal for the mounts of a node, for people. Stateless. */
public final class NodeAllocationText {
  private static final String NOTHING = "-";

  /** Speeds that differ by a smaller part are the same. */
  private static final double FASTER = 1.001;

  private NodeAllocationText() {}

  /** Returns lines, each with its end. */
  public static String of(NodeAllocation node) {
    StringBuilder text = new StringBuilder();
    if (!node.proposals().isEmpty()) {
      List<List<String>> rows = new ArrayList<>();
      rows.add(AllocationText.HEADING);
      node.proposals().forEach(proposal -> rows.add(row(proposal)));
      text.append(Columns.aligned(rows)).append('\n');
    }
    for (FoundMount mount : node.left()) {
      text.append(
          "%s is left as it is, with %s: %s\n"
              .formatted(
                  Visible.of(mount.name()),
                  Human.bytes(mount.capacity()),
                  Visible.of(mount.reason())));
    }
    return text.append(advice(node)).append('\n').toString();
  }

  private static List<String> row(NodeAllocation.Proposal proposal) {
    Allocation.Share share = proposal.share();
    if (share != null) {
      return AllocationText.row(share, proposal.bytes(), proposal.reason());
    }
    FoundMount mount = proposal.mount();
    return List.of(
        mount.name(),
        NOTHING,
        NOTHING,
        Human.bytes(mount.capacity()),
        NOTHING,
        Human.bytes(proposal.bytes()),
        NOTHING,
        NOTHING,
        NOTHING,
        NOTHING,
        NOTHING,
        proposal.reason());
  }

  private static String advice(NodeAllocation node) {
    String budget =
        "The budget is %s, of which the mounts have %s. "
            .formatted(Human.bytes(node.budget()), Human.bytes(node.total()));
    if (node.proposals().isEmpty()) {
      return budget + "No mount has a job whose rates are known: start one.";
    }
    if (node.changes().isEmpty()) {
      return budget + "It is divided well: nothing is to change.";
    }
    Allocation allocation = node.allocation().orElse(null);
    long now = 0;
    long proposed = 0;
    if (allocation != null) {
      for (Allocation.Share share : allocation.mounts()) {
        now += share.speeds().now();
        proposed += share.speeds().proposed();
      }
    }
    String speeds =
        proposed > FASTER * now
            ? String.format(
                Locale.ROOT,
                "Together %s in place of %s now (%.2f times)",
                AllocationText.rate(proposed),
                AllocationText.rate(now),
                (double) proposed / now)
            : node.total() > node.budget()
                ? "The mounts have more than the budget"
                : "Together no faster than now, but divided as asked";
    return budget + speeds + ": 'holdfast allocate --apply' sets the capacities.";
  }
}
