package io.holdfast.fs.transit;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Tells sequential from random readers of large files, also several readers of one file. The table
 * has a fixed number of files and forgets by collision: a wrong prediction costs time, never
 * correctness. Thread-safe.
 */
final class ReadPatterns {
  /** Files that are remembered; a power of two. */
  private static final int SLOTS = 4096;

  private final AtomicReferenceArray<@Nullable FileStreams> files =
      new AtomicReferenceArray<>(SLOTS);

  /**
   * Records a read and predicts the next ones.
   *
   * @param thread the reader's thread; 0 where it is unknown
   * @param now on the clock of nanoseconds
   */
  Guess read(long node, long offset, int length, int thread, long now) {
    int slot = slot(node);
    FileStreams file = files.get(slot);
    if (file == null || file.node() != node) {
      file = new FileStreams(node);
      files.set(slot, file);
    }
    return file.read(offset, length, thread, now);
  }

  /** Records that delivered bytes of a file are about to be given up. */
  void retiring(long node) {
    FileStreams file = files.get(slot(node));
    if (file != null && file.node() == node) {
      file.retiring();
    }
  }

  private static int slot(long node) {
    return (int) ((node * 0x9E3779B97F4A7C15L) >>> 52);
  }
}
