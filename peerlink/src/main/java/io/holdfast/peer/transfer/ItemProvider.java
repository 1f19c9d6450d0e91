package io.holdfast.peer.transfer;

import io.holdfast.peer.NodeAddress;
import java.util.concurrent.CompletableFuture;

/** Provides the items that a server sends. Thread-safe; event loops call it, so no method waits. */
public interface ItemProvider {
  /**
   * Finds an item. The answer is given exactly once, now or later, from any thread.
   *
   * @param from the asker
   */
  void get(ItemRequest request, Asker from, Answer answer);

  /**
   * Learns that a node which asked for an item before holds it now, so that this node may release
   * it if it is not the owner.
   */
  void held(ItemRequest request, Asker by);

  /**
   * Returns the sketch of this node's dataset, in ASCII, for peers to compare. It may complete
   * late, or never.
   */
  CompletableFuture<String> sketch(NodeAddress peer);

  /**
   * Returns this node's offer of a plan for a peer that follows the same order; an empty text if it
   * has none for that peer.
   */
  OwnText plan(NodeAddress peer);

  /** Returns the bytes that are resident on this node; sent with every answer. */
  long residentBytes();

  /** Takes the answer. */
  interface Answer {
    /** Sends these bytes, and closes the lease once they are sent or cannot be sent. */
    void lent(BufferLease loan);

    /** Refuses the request. */
    void refused(Refusal refusal);
  }
}
