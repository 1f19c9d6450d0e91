package io.holdfast.policy;

import java.util.Collection;

/** What evictions check of themselves. */
final class Checks {

  private Checks() {}

  /**
   * Compares what an eviction keeps with the residents.
   *
   * @throws IllegalStateException if one has an item that the other has not
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
