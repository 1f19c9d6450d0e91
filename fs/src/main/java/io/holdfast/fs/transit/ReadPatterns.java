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

  /**
   * A random reader of a large file goes on where it was before by chance, but not so often in a
   * row.
   */
  private static final int RUN = 3;

  private static final int NODE = 0;
  private static final int END = 1;
  private static final int RUN_LENGTH = 2;
  private static final int FIELDS = 3;

  /** For each slot the node, where the last read of it ended, and how many went on in a row. */
  private final AtomicLongArray last = new AtomicLongArray(FIELDS * SLOTS);

  /** Takes note of a read and tells whether it begins the file, or is one of a run that goes on. */
  boolean isSequential(long node, long offset, int length) {
    int slot = FIELDS * (int) ((node * 0x9E3779B97F4A7C15L) >>> 52);
    boolean known = last.get(slot + NODE) == node;
    long before = known ? last.get(slot + END) : 0;
    boolean goesOn = Math.abs(offset - before) <= TOLERANCE;
    long run = 0;
    if (goesOn) {
      run = known ? last.get(slot + RUN_LENGTH) + 1 : RUN;
    }
    last.set(slot + NODE, node);
    last.set(slot + END, offset + length);
    last.set(slot + RUN_LENGTH, run);
    return offset == 0 || run >= RUN;
  }
}
