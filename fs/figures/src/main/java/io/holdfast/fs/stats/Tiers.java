package io.holdfast.fs.stats;

import io.holdfast.fs.ReadSource;

/** A figure by the tier that answered. Immutable. */
public record Tiers(long origin, long peer) {
  static final Tiers NOTHING = new Tiers(0, 0);

  /** Returns the sum of both tiers. */
  public long sum() {
    return origin + peer;
  }

  /** Returns the sum of this and what came from a tier; whatever is no peer is the origin. */
  Tiers plus(ReadSource source, long more) {
    return source == ReadSource.PEER
        ? new Tiers(origin, peer + more)
        : new Tiers(origin + more, peer);
  }

  Tiers plus(Tiers other) {
    return new Tiers(origin + other.origin, peer + other.peer);
  }

  Tiers minus(Tiers other) {
    return new Tiers(origin - other.origin, peer - other.peer);
  }
}
