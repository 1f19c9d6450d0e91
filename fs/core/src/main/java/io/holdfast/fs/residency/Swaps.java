package io.holdfast.fs.residency;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.transit.Item;
import org.jspecify.annotations.Nullable;

/**
 * Chooses residents that make way for items that have been fetched: so that the residents of an
 * order that repeats are spread over it, or by the plan of several nodes. Thread-safe; no method
 * waits. The methods as they are swap nothing.
 */
public interface Swaps {
  /** Swaps nothing. */
  Swaps NONE = new Swaps() {};

  /** Tells whether the residents are spread over orders that repeat. */
  default boolean spreads() {
    return false;
  }

  /** Learns that a program reads an item that is not resident. */
  default void asked(Item item) {}

  /** Tells whether an item is to take the place of a resident. Changes nothing. */
  default boolean wants(Item item) {
    return false;
  }

  /**
   * Returns the resident that is to make way for an item; null if there is none. Each is returned
   * once, so the caller asks again if this one is no longer resident.
   *
   * @param item an item that has been fetched, and is not resident
   * @param freePages whole pages that are free in the capacity
   * @param slackPages the most pages that a swap may leave free
   */
  default @Nullable ItemKey victim(Item item, long freePages, long slackPages) {
    return null;
  }

  /** Learns that an item has taken the place of a resident. */
  default void swapped(Item item) {}
}
