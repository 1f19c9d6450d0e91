package io.holdfast.policy;

/**
 * Decides which items are worth being resident. Room is the business of {@link Eviction} and the
 * capacity.
 */
interface Admission {

  /** Admits every item that fits. */
  Admission ALWAYS = (id, hash, weight) -> true;

  /** Admits nothing. */
  Admission NEVER = (id, hash, weight) -> false;

  /** Whether the item is worth admitting. Must not change any state. */
  boolean admits(long id, long hash, long weight);

  /** Learns that an item was used, resident or not. */
  default void seen(long id) {}

  /** Learns how much room there is now. */
  default void roomChanged(long bytes) {}

  /** Learns the weight of the whole dataset, as far as is known. */
  default void datasetSized(long bytes) {}
}
