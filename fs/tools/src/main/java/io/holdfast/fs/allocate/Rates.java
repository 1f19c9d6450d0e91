package io.holdfast.fs.allocate;

import io.holdfast.fs.figures.Bottleneck;
import org.jspecify.annotations.Nullable;

/**
 * The rates of a mount's job, in bytes per second, all greater than 0. Immutable.
 *
 * @param share the origin that several mounts read; null for one of its own
 * @param origin what the origin gives when nobody else reads it
 * @param memory at which resident items are read
 * @param demand of the job when it never waits for data
 * @param demandBound what the demand comes from
 */
public record Rates(
    @Nullable OriginShare share, long origin, long memory, long demand, Bottleneck demandBound) {
  /** Returns the name of the origin that several mounts read; null for one of its own. */
  public @Nullable String sharedOrigin() {
    return share == null ? null : share.name();
  }

  /** Returns the readers that wait for the origin, as far as that matters to others. */
  public long readers() {
    return share == null ? 1 : share.readers();
  }

  /** Returns the same with another rate of the origin. */
  public Rates withOrigin(long rate) {
    return new Rates(share, rate, memory, demand, demandBound);
  }
}
