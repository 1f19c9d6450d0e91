package io.holdfast.policy;

import java.util.SplittableRandom;

/** Which residents make way, and whether they do for a newcomer. */
interface Eviction {

  /** Whether residents make way for a newcomer; if not, they do only for a shrinking capacity. */
  boolean replaces();

  /**
   * The resident to give up next; {@link #removed} follows. Called only while there is one. May be
   * the newcomer for which room is made: it is refused then.
   *
   * @param residents those that there are
   */
  long victim(ResidentTable residents);

  /** An item became resident. */
  default void admitted(long id, long hash, long weight) {}

  /** An item was used, resident or not. */
  default void accessed(long id) {}

  /** An item is no longer among the residents that are this eviction's to give up. */
  default void removed(long id, ResidentTable residents) {}

  /** There is room for this now; who has to make way is asked after it. */
  default void roomMade(long bytes) {}

  /** Checks what this keeps of its own against the residents. */
  default void check(ResidentTable residents) {}

  /** Nobody makes way for a newcomer. For a shrinking capacity, each resident is equally likely. */
  static Eviction never(long seed) {
    return new RandomEviction(false, seed);
  }

  /** Each resident is equally likely to make way for a newcomer. */
  static Eviction random(long seed) {
    return new RandomEviction(true, seed);
  }

  /** Gives up any resident but the newest, each equally likely. */
  final class RandomEviction implements Eviction {
    private final boolean replaces;
    private final SplittableRandom random;
    private long newest;

    private RandomEviction(boolean replaces, long seed) {
      this.replaces = replaces;
      this.random = new SplittableRandom(seed);
    }

    @Override
    public boolean replaces() {
      return replaces;
    }

    @Override
    public void admitted(long id, long hash, long weight) {
      newest = id;
    }

    @Override
    public long victim(ResidentTable residents) {
      long victim = residents.pick(random);
      while (replaces && victim == newest && residents.size() > 1) {
        victim = residents.pick(random);
      }
      return victim;
    }
  }
}
