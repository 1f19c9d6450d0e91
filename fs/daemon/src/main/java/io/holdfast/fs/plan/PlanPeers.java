package io.holdfast.fs.plan;

import io.holdfast.fs.transit.Item;
import java.util.concurrent.CompletableFuture;

/** The other nodes, as plans need them. Thread-safe; no method waits. */
public interface PlanPeers {
  /**
   * Asks a peer for its offer.
   *
   * @param known names the last offer of the peer, which does not travel again; empty if none is
   *     known
   * @param longest the most letters of an offer that is of use
   */
  CompletableFuture<Answer> offer(String peer, String known, int longest);

  /** Tells whether an item belongs to this node without a plan. */
  boolean isPlacedHere(Item item);

  /** Learns that a plan has begun or ended. */
  void planChanged();

  /**
   * A peer's answer. Immutable.
   *
   * @param name names the offer: no other offer has this name
   * @param text the offer; empty if the peer has none, or if this is the one that was known. Of one
   *     that is longer than was of use, the first part, with a letter too many
   */
  record Answer(String name, String text) {
    /** The peer has no offer. */
    public static final Answer NONE = new Answer("", "");
  }
}
