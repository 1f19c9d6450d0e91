package io.holdfast.policy;

import java.util.SplittableRandom;

/** Which residents make way, and whether they do for a newcomer. */
interface Eviction {

  /** Whether residents make way for a newcomer; if not, they do only for a shrinking capacity. */
  boolean replaces();

  /**
   * The resident to give up next; {@link #removed} follows. Called only while there is one.
   *
   * @param residents those that there are
   */
  long victim(ResidentTable residents);

  /** An item became resident. */
  default void admitted(long id, long hash, long weight) {}

  /** A resident was used. */
  default void accessed(long id) {}

  /** An item is no longer resident, whatever the reason. */
  default void removed(long id) {}

  /** Checks what this keeps of its own against the residents. */
  default void check(ResidentTable residents) {}

  /** Nobody makes way for a newcomer. For a shrinking capacity, each resident is equally likely. */
  static Eviction never(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    return new Eviction() {
      @Override
      public boolean replaces() {
        return false;
      }

      @Override
      public long victim(ResidentTable residents) {
        return residents.pick(random);
      }
    };
  }
}
