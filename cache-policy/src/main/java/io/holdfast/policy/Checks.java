package io.holdfast.policy;

import java.util.Collection;

/** Self-checks of evictions. */
final class Checks {

  private Checks() {}

  /**
   * Compares an eviction's items with the residents.
   *
   * @throws IllegalStateException if they differ
   */
  static void sameItems(String name, Collection<Long> kept, ResidentTable residents) {
    boolean same =
        kept.size() == residents.size()
            && kept.stream().allMatch(id -> residents.weight(id) != ResidentTable.ABSENT);
    if (!same) {
      throw new IllegalStateException(
          "%s has %d items, there are %d residents".formatted(name, kept.size(), residents.size()));
    }
  }
}
