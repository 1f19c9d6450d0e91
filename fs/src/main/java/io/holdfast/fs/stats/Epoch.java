package io.holdfast.fs.stats;

/**
 * A pass of a job over the files that it reads. Immutable.
 *
 * @param number 1 for the first pass that was seen
 * @param counts what it came to; {@code nanos} is how long it took, or has taken
 */
public record Epoch(int number, Counts counts) {}
