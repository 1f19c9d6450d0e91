package io.holdfast.policy;

/**
 * Decides which items are resident. It holds no data, only each resident's identity and weight. The
 * caller makes an item resident when the policy admits it, and releases the residents that the
 * policy evicts.
 *
 * <p>An item is a {@code long} of the caller's choosing, any value. Its weight is what it takes of
 * the capacity, at least 1. Its hash is a function of the item's name alone, uniform over all longs
 * and the same on every node; only policies that select by hash use it.
 *
 * <p>Not thread-safe: one lock of the caller guards every call.
 */
public interface CachePolicy {

  /** The name under which {@link Policies#create} creates this policy. */
  String name();

  /** The greatest total weight of the residents. */
  long capacity();

  /** The total weight of the residents: never more than {@link #capacity()}. */
  long residentBytes();

  long residentItems();

  boolean contains(long id);

  /**
   * Whether {@link #offer} may admit this item now. Changes nothing. False is certain until the
   * next call that changes something. True is certain for {@code minio}, and a hint for policies
   * that weigh a newcomer against residents.
   */
  boolean wouldAdmit(long id, long hash, long weight);

  /**
   * Asks for admission of a completely fetched item. An item that is already resident stays as it
   * is, and counts as admitted. Residents may be evicted even if the item is refused.
   *
   * @throws IllegalArgumentException if the weight is below 1, or differs from the resident's
   *     weight: an item whose version changed must be {@linkplain #remove removed} first
   */
  Outcome offer(long id, long hash, long weight);

  /**
   * Makes an item resident in the place of another one. For items of an order that repeats, which
   * {@link EvenSpread} chooses. Refused where the other one is not resident or is {@linkplain #keep
   * kept}, where the item is resident, or does not fit into the place and the free room.
   *
   * @param victim the resident that is evicted
   * @return whether the item is resident from now on, and the other no longer is
   * @throws IllegalArgumentException as for {@link #offer}
   */
  boolean swap(long id, long hash, long weight, long victim);

  /**
   * Makes an item resident that a user wants to keep, whatever the policy thinks of it. Others give
   * way, as for a smaller capacity; it does so itself only after all of them, and is refused only
   * where those that are kept leave no room for it.
   *
   * @throws IllegalArgumentException as for {@link #offer}
   */
  Outcome keep(long id, long weight);

  /**
   * Returns a kept item to the policy: it stays resident, and may be evicted like any other. An
   * item that is not kept stays as it is.
   *
   * @return whether the item was kept
   */
  boolean unkeep(long id, long hash);

  /** The total weight of the {@linkplain #keep kept} items. */
  long keptBytes();

  long keptItems();

  /**
   * Learns that an item was used, resident or not. An item that is not resident is used before it
   * is {@linkplain #offer offered}.
   */
  void access(long id);

  /**
   * Learns the weight of the whole dataset, as far as is known. Policies that select a share of the
   * dataset begin with this figure; a wrong figure costs admissions, never correctness.
   *
   * @throws IllegalArgumentException if the size is negative
   */
  void datasetSize(long bytes);

  /**
   * Forgets an item whose version changed, that is gone, or that could not be made resident.
   *
   * @return whether the item was resident
   */
  boolean remove(long id);

  /**
   * Changes the capacity.
   *
   * @return the evicted residents; no longer resident on return
   * @throws IllegalArgumentException if the capacity is negative
   */
  long[] resize(long capacity);

  /**
   * Checks this policy's invariants: the recomputed weight equals the tracked one and is within the
   * capacity. Takes time in proportion to the residents.
   *
   * @throws IllegalStateException if an invariant does not hold
   */
  void check();
}
