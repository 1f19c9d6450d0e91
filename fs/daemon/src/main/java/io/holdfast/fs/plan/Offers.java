package io.holdfast.fs.plan;

import java.util.List;
import java.util.Map;

/**
 * The nodes, and what they have offered at a moment. Immutable, but for the texts.
 *
 * @param members the addresses of all nodes, with this one first
 * @param mine the offer of this node
 * @param others the offers of all others
 */
record Offers(List<String> members, PlanOffer mine, Map<String, PeerOffer> others) {
  /** Copies the nodes. */
  Offers {
    members = List.copyOf(members);
    others = Map.copyOf(others);
  }

  /** Returns how many nodes have an offer. */
  long count() {
    return 1 + others.values().stream().filter(offer -> !offer.isNone()).count();
  }

  /** Returns what has changed since earlier offers; empty if nothing has. */
  String changeSince(Offers before) {
    if (!members.equals(before.members)) {
      return "the nodes have changed";
    }
    if (!mine.equals(before.mine)) {
      return "this node offers something else";
    }
    for (Map.Entry<String, PeerOffer> each : before.others.entrySet()) {
      PeerOffer now = others.getOrDefault(each.getKey(), PeerOffer.NONE);
      if (!now.name().equals(each.getValue().name())) {
        return each.getKey()
            + (now.isNone() ? " has withdrawn its offer" : " offers something else");
      }
    }
    return "";
  }

  /** Forgets the texts of all but this node, once a plan is made of them. */
  void forgetTexts() {
    others.values().forEach(PeerOffer::forget);
  }
}
