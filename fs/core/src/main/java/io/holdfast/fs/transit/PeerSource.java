package io.holdfast.fs.transit;

import java.util.concurrent.CompletableFuture;

/** Fetches from peers before a fetch goes to the origin. Thread-safe. */
public interface PeerSource {
  /** Knows no peers: all items come from the origin, and all may be admitted. */
  PeerSource NONE =
      (item, range, forPeer, address) ->
          CompletableFuture.completedFuture(new Arrival(false, true));

  /**
   * The result of asking the peers.
   *
   * @param fetched whether all bytes of the range have arrived, checked and of the item's version;
   *     otherwise the origin is asked
   * @param mayAdmit whether this node may keep the item
   */
  record Arrival(boolean fetched, boolean mayAdmit) {}

  /**
   * Asks peers for a range of an item. Does not wait for an answer.
   *
   * @param item the item
   * @param range the part that is needed, or all of it
   * @param forPeer whether a peer needs the range
   * @param address native memory for the range; no byte is written there after completion
   * @return completed, never exceptionally, by a thread that may decide on the item
   */
  CompletableFuture<Arrival> fetch(Item item, Item range, boolean forPeer, long address);
}
