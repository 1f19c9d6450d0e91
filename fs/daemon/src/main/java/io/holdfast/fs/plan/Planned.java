package io.holdfast.fs.plan;

import io.holdfast.fs.transit.Item;
import org.jspecify.annotations.Nullable;

/**
 * Tells what the plan that the nodes follow says of items. Thread-safe; no method waits. The
 * methods as they are know of no plan.
 */
public interface Planned {
  /** There is no plan. */
  Planned NONE = new Planned() {};

  /** Returns what the plan says of an item that this node wants; null without a plan for it. */
  default @Nullable PlannedItem find(Item item) {
    return null;
  }

  /** Tells whether this node is to keep an item by the plan, whoever asks for it. */
  default boolean keeps(Item item) {
    return false;
  }

  /** Returns the node that probably has an item from an earlier plan; empty if none is known. */
  default String formerHolder(Item item) {
    return "";
  }

  /** Learns that another node did not have an item that the plan says it has. */
  default void notThere(Item item) {}

  /** Learns that this node fetches an item; tells whether it should have the item by the plan. */
  default boolean fetched(Item item) {
    return false;
  }

  /** Learns that this node has sent an item to the node of an address. */
  default void sent(Item item, String to) {}
}
