package io.holdfast.policy;

/**
 * Decides which items are resident. It holds no data, only each resident's identity and weight: the
 * caller makes an item resident when the policy admits it, and gives up those that the policy
 * names.
 *
 * <p>An item is a {@code long} of the caller's choosing, any value. Its weight is what it takes of
 * the capacity, at least 1. Its hash is a function of the item's name alone, uniform over all longs
 * and the same on every node; only policies that select by hash look at it.
 *
 * <p>Not thread-safe: one lock of the caller's guards every call.
 */
public interface CachePolicy {

  /** The name under which {@link Policies#create} makes this policy. */
  String name();

  /** What the residents may weigh together. */
  long capacity();

  /** What the residents weigh together: never more than {@link #capacity()}. */
  long residentBytes();

  long residentItems();

  boolean contains(long id);

  /**
   * Whether {@link #offer} may admit this item now. Changes nothing. False is certain until the
   * next call that changes something; true is so too for {@code minio}, and a hint for policies
   * that weigh a newcomer against residents.
   */
  boolean wouldAdmit(long id, long hash, long weight);

  /**
   * Asks for admission of an item that has been fetched whole. An item that is resident already
   * stays as it is, and counts as admitted. Residents may be given up also for one that is refused.
   *
   * @throws IllegalArgumentException if the weight is below 1, or differs from that of the same
   *     item's residence: an item whose version changed is to be {@linkplain #remove removed} first
   */
  Outcome offer(long id, long hash, long weight);

  /**
   * Makes an item resident that a user wants to keep, whatever the policy thinks of it. Others give
   * way, as for a smaller capacity; it does so itself only after all of them, and is refused only
   * where those that are kept leave no room for it.
   *
   * @throws IllegalArgumentException as for {@link #offer}
   */
  Outcome keep(long id, long weight);

  /**
   * Leaves a kept item to the policy again: resident as before, and to be given up as any other. An
   * item that is not kept stays as it is.
   *
   * @return whether it was kept
   */
  boolean unkeep(long id, long hash);

  /** What those weigh together that are {@linkplain #keep kept}. */
  long keptBytes();

  long keptItems();

  /**
   * Notes that an item was used, resident or not: before it is {@linkplain #offer offered} where it
   * is not.
   */
  void access(long id);

  /**
   * Says what the whole dataset weighs, as far as is known. Policies that select a share of the
   * dataset begin with this; a figure that turns out wrong costs admissions, never correctness.
   *
   * @throws IllegalArgumentException if the size is negative
   */
  void datasetSize(long bytes);

  /**
   * Forgets an item whose version changed, that is gone, or that could not be made resident.
   *
   * @return whether it was resident
   */
  boolean remove(long id);

  /**
   * Changes the capacity.
   *
   * @return the residents to give up because they no longer fit; no longer resident on return
   * @throws IllegalArgumentException if the capacity is negative
   */
  long[] resize(long capacity);

  /**
   * Checks this policy against itself: the recomputed weight equals the tracked one and is within
   * the capacity. Takes time in proportion to the residents.
   *
   * @throws IllegalStateException if an invariant does not hold
   */
  void check();
}
