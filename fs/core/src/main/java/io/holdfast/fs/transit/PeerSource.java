package io.holdfast.fs.transit;

import java.util.function.Consumer;

/** Fetches from peers before a fetch goes to the origin. Thread-safe. */
public interface PeerSource {
  /** Knows no peers: all items come from the origin, and all may be admitted. */
  PeerSource NONE = (item, range, forPeer, address, answered) -> answered.accept(Arrival.NOTHING);

  /**
   * The result of asking the peers.
   *
   * @param fetched whether all bytes of the range have arrived, checked and of the item's version;
   *     otherwise the origin is asked
   * @param mayAdmit whether this node may keep the item
   */
  record Arrival(boolean fetched, boolean mayAdmit) {
    /** No bytes have arrived, and this node may keep the item. */
    public static final Arrival NOTHING = new Arrival(false, true);
  }

  /**
   * Asks peers for a range of an item. Does not wait for an answer.
   *
   * @param item the item
   * @param range the part that is needed, or all of it
   * @param forPeer whether a peer needs the range
   * @param address native memory for the range; no byte is written there after the answer, nor
   *     where this method fails
   * @param answered takes the result, once, on a thread that may decide on the item; not called
   *     where this method fails. Throws nothing
   */
  void fetch(Item item, Item range, boolean forPeer, long address, Consumer<Arrival> answered);
}
