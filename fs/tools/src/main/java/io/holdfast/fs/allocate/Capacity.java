package io.holdfast.fs.allocate;

/**
 * The memory that a mount has, and its bounds. Immutable.
 *
 * @param now bytes
 * @param least bytes that it keeps in any case
 * @param most bytes that it must not exceed
 * @param weight of its fair share
 */
public record Capacity(long now, long least, long most, long weight) {}
