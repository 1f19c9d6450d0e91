package io.holdfast.peer.transfer;

import io.holdfast.peer.NodeAddress;
import java.util.HashMap;
import java.util.Map;

/** Permits for one kind of work, of which one node may hold a part. Thread-safe. */
final class Permits {
  private final int all;
  private final int ofNode;

  /** Guarded by this: how many each node holds. */
  private final Map<NodeAddress, Integer> held = new HashMap<>();

  /** Guarded by this: how many all nodes hold. */
  private int taken;

  /**
   * Creates the permits.
   *
   * @param all permits of all nodes
   * @param ofNode the most that one node holds
   */
  Permits(int all, int ofNode) {
    this.all = all;
    this.ofNode = ofNode;
  }

  /** Takes a permit for a node; returns false where there is none for it. */
  synchronized boolean take(NodeAddress node) {
    int now = held.getOrDefault(node, 0);
    if (taken >= all || now >= ofNode) {
      return false;
    }
    held.put(node, now + 1); // first, as a map may find no memory to grow
    taken++;
    return true;
  }

  /** Gives a permit of a node back. */
  synchronized void giveBack(NodeAddress node) {
    taken--;
    held.computeIfPresent(node, (any, now) -> now == 1 ? null : now - 1);
  }
}
