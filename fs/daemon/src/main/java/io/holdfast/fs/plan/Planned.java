package io.holdfast.fs.plan;

import io.holdfast.fs.transit.Item;
import org.jspecify.annotations.Nullable;

/** What the plan that the nodes follow says of items. Thread-safe; no method waits. */
public interface Planned {
  /** There is no plan. */
  Planned NONE =
      new Planned() {
        @Override
        public @Nullable PlannedItem find(Item item) {
          return null;
        }

        @Override
        public boolean keeps(Item item) {
          return false;
        }

        @Override
        public String formerHolder(Item item) {
          return "";
        }

        @Override
        public void notThere(Item item) {}

        @Override
        public boolean fetched(Item item) {
          return false;
        }

        @Override
        public void sent(Item item, String to) {}
      };

  /** Returns what the plan says of an item that this node wants; null without a plan for it. */
  @Nullable PlannedItem find(Item item);

  /** Tells whether this node is to keep an item by the plan, whoever asks for it. */
  boolean keeps(Item item);

  /** Returns the node that probably has an item from an earlier plan; empty if none is known. */
  String formerHolder(Item item);

  /** Learns that another node did not have an item that the plan says it has. */
  void notThere(Item item);

  /** Learns that this node fetches an item; tells whether it should have the item by the plan. */
  boolean fetched(Item item);

  /** Learns that this node has sent an item to the node of an address. */
  void sent(Item item, String to);
}
