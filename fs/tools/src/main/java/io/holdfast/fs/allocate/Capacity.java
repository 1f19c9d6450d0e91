package io.holdfast.fs.allocate;

/**
 * What a mount has and may have of the memory. Immutable.
 *
 * @param now bytes
 * @param least bytes that it keeps in any case
 * @param most bytes that it must not exceed
 * @param weight of its fair share
 */
public record Capacity(long now, long least, long most, long weight) {}
