package io.holdfast.fs.memory;

/**
 * The bounds of memory that users have set, in bytes. Immutable.
 *
 * @param capacity the most that residents may take
 * @param memory the most that all parts together may take
 * @param least the least that residents keep when others need memory
 */
public record Bounds(long capacity, long memory, long least) {
  /** Returns the bytes that residents keep, whatever others need. */
  long floor() {
    return Math.min(least, capacity);
  }
}
