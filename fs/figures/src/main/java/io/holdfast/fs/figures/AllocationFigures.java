package io.holdfast.fs.figures;

import java.util.OptionalLong;

/**
 * The last that {@code holdfast allocate} told this mount of its part of the node's memory.
 * Immutable.
 *
 * @param budgetBytes the memory for all mounts of the node
 * @param fairShareBytes the mount's part of it by weights; empty where nothing is known of its jobs
 * @param proposedBytes the capacity that the mount is to have in the end
 * @param changes how often this daemon's capacity was set by it
 * @param toldSeconds when it told this, in seconds since 1970
 * @param changedSeconds when it set the capacity last, likewise; empty where it has not
 */
public record AllocationFigures(
    long budgetBytes,
    OptionalLong fairShareBytes,
    long proposedBytes,
    long changes,
    long toldSeconds,
    OptionalLong changedSeconds) {}
