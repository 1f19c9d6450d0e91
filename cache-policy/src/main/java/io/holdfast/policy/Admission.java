package io.holdfast.policy;

/**
 * Which items are worth being resident. Says nothing about room: that is the business of {@link
 * Eviction} and the capacity.
 */
interface Admission {

  /** Admits whatever there is room for. */
  Admission ALWAYS = (id, hash, weight) -> true;

  /** Admits nothing. */
  Admission NEVER = (id, hash, weight) -> false;

  /** Whether the item is worth it. Must not change any state. */
  boolean admits(long id, long hash, long weight);

  /** An item was used, resident or not. */
  default void seen(long id) {}

  /** There is room for this now. */
  default void roomChanged(long bytes) {}

  /** The dataset weighs this, as far as is known. */
  default void datasetSized(long bytes) {}
}
