package io.holdfast.fs.memory;

/**
 * What people have said of memory, in bytes. Immutable.
 *
 * @param capacity what residents may take
 * @param memory what all together may take
 * @param least what residents keep when others need memory
 */
public record Bounds(long capacity, long memory, long least) {
  /** Returns what residents keep whatever others need. */
  long floor() {
    return Math.min(least, capacity);
  }
}
