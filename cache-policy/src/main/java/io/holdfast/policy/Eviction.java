package io.holdfast.policy;

import java.util.SplittableRandom;

/** Decides which residents are evicted, and whether a newcomer may evict residents. */
interface Eviction {

  /** Whether a newcomer may evict residents; if not, only a shrinking capacity evicts. */
  boolean replaces();

  /**
   * The resident to evict next; {@link #removed} follows. Called only while there are residents.
   * May return the newcomer, which is refused then.
   *
   * @param residents the residents
   */
  long victim(ResidentTable residents);

  /** Learns that an item became resident. */
  default void admitted(long id, long hash, long weight) {}

  /** Learns that an item was used, resident or not. */
  default void accessed(long id) {}

  /** Learns that an item is no longer among the residents that this eviction may choose. */
  default void removed(long id, ResidentTable residents) {}

  /** Learns how much room there is now, before it is asked for victims. */
  default void roomMade(long bytes) {}

  /** Checks this eviction's own items against the residents. */
  default void check(ResidentTable residents) {}

  /** Evicts nothing for a newcomer. For a shrinking capacity, each resident is equally likely. */
  static Eviction never(long seed) {
    return new RandomEviction(false, seed);
  }

  /** Evicts a random resident for a newcomer, each equally likely. */
  static Eviction random(long seed) {
    return new RandomEviction(true, seed);
  }

  /** Evicts any resident except the newest, each equally likely. */
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
