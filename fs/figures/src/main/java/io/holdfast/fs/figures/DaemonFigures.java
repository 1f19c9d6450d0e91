package io.holdfast.fs.figures;

import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * The resources that the daemon's process takes. A figure that cannot be read is empty. Immutable.
 *
 * @param memoryLimitBytes the ceiling for everything together
 * @param rssAnonBytes memory in use that is not of files
 */
public record DaemonFigures(
    long memoryLimitBytes,
    OptionalLong rssAnonBytes,
    OptionalLong lockedBytes,
    long heapUsedBytes,
    long heapMaxBytes,
    long directBytes,
    OptionalLong threads,
    OptionalLong descriptors,
    OptionalLong descriptorsLimit,
    OptionalDouble cpuSeconds) {}
