package io.holdfast.fs.allocate;

/**
 * A mount, as far as an allocation asks for it. Immutable.
 *
 * @param dataset bytes, greater than 0
 */
public record PlannedMount(String name, long dataset, Rates rates, Capacity capacity) {
  /** Returns the bytes beyond which it cannot have any. */
  long ceiling() {
    return Math.min(capacity.most(), dataset);
  }
}
