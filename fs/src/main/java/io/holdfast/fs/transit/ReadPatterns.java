package io.holdfast.fs.transit;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Tells sequential readers from random ones by where the last read of the same file ended. It
 * remembers a fixed number of files and forgets by collision; a wrong guess costs time, never
 * bytes. Thread-safe without a lock.
 */
final class ReadPatterns {
  /** Files remembered; a power of two. */
  private static final int SLOTS = 4096;

  /** The kernel's readahead sends several reads at once, and they may arrive in another order. */
  private static final long TOLERANCE = 1 << 20;

  /** For each slot the node, and where the last read of it ended. */
  private final AtomicLongArray last = new AtomicLongArray(2 * SLOTS);

  /**
   * Takes note of a read and tells whether it goes on where another one of this file ended, or
   * begins the file.
   */
  boolean isSequential(long node, long offset, int length) {
    int slot = 2 * (int) ((node * 0x9E3779B97F4A7C15L) >>> 52);
    long before = last.get(slot) == node ? last.get(slot + 1) : 0;
    last.set(slot, node);
    last.set(slot + 1, offset + length);
    return Math.abs(offset - before) <= TOLERANCE;
  }
}
