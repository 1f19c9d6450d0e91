package io.holdfast.fs.transit;

import java.util.function.Consumer;

/** Where a fetch looks before it goes to the origin. Thread-safe. */
public interface PeerSource {
  /** Knows of no peers: everything comes from the origin, and everything may be admitted. */
  PeerSource NONE = (item, range, forPeer, address, then) -> then.accept(new Arrival(false, true));

  /**
   * How asking the peers ended.
   *
   * @param fetched whether all bytes of the range are there, checked, and of the item's version;
   *     else the origin is to be asked
   * @param mayAdmit whether the item is one for this node to keep
   */
  record Arrival(boolean fetched, boolean mayAdmit) {}

  /**
   * Asks for a range of an item. Does not wait for an answer.
   *
   * @param item the item
   * @param range the part of it that is wanted, or all of it
   * @param forPeer whether it is a peer that needs it
   * @param address native memory for the range; nothing is written there once the result is told
   * @param then takes the result, exactly once, on this thread or on another that may decide on the
   *     item
   */
  void fetch(Item item, Item range, boolean forPeer, long address, Consumer<Arrival> then);
}
