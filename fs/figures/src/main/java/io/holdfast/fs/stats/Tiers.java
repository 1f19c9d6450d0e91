package io.holdfast.fs.stats;

/** A figure by the tier that answered. Immutable. */
public record Tiers(long origin, long peer) {
  static final Tiers NOTHING = new Tiers(0, 0);

  /** Returns the sum of both tiers. */
  public long sum() {
    return origin + peer;
  }

  Tiers plus(Tiers other) {
    return new Tiers(origin + other.origin, peer + other.peer);
  }

  Tiers minus(Tiers other) {
    return new Tiers(origin - other.origin, peer - other.peer);
  }
}
