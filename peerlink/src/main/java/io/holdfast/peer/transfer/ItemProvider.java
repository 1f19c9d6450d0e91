package io.holdfast.peer.transfer;

import io.holdfast.peer.NodeAddress;
import java.util.concurrent.CompletableFuture;

/** What a server sends. Thread-safe; called by event loops, so no method waits. */
public interface ItemProvider {
  /**
   * Finds an item. The answer is given exactly once, now or later, from any thread.
   *
   * @param from who asks
   */
  void get(ItemRequest request, Asker from, Answer answer);

  /**
   * Learns that a node which asked for an item before holds it now, so that this one need not if it
   * is not the owner.
   */
  void held(ItemRequest request, Asker by);

  /**
   * Returns what is told of this node's dataset, so that peers can compare it with theirs, in
   * ASCII. It need not complete soon, or ever.
   */
  CompletableFuture<String> sketch(NodeAddress peer);

  /** Returns how many bytes are resident here; told with every answer. */
  long residentBytes();

  /** Takes the answer. */
  interface Answer {
    /** Sends these bytes, and gives them back once they are sent or cannot be. */
    void lent(Loan loan);

    /** Says why there are none. */
    void refused(Refusal refusal);
  }
}
