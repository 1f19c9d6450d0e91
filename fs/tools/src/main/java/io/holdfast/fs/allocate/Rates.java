package io.holdfast.fs.allocate;

import io.holdfast.fs.figures.Bottleneck;
import org.jspecify.annotations.Nullable;

/**
 * The rates of a mount's job, in bytes per second, all greater than 0. Immutable.
 *
 * @param sharedOrigin name of the origin that several mounts read; null for one of its own
 * @param origin what the origin gives when nobody else reads it
 * @param memory at which resident items are read
 * @param demand of the job when it never waits for data
 * @param demandBound what the demand comes from
 */
public record Rates(
    @Nullable String sharedOrigin, long origin, long memory, long demand, Bottleneck demandBound) {}
