package io.holdfast.fs.transit;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Tells, for large files, sequential readers from random ones, several in one file. It remembers a
 * fixed number of files and forgets by collision; a wrong guess costs time, never bytes.
 * Thread-safe.
 */
final class ReadPatterns {
  /** Files remembered; a power of two. */
  private static final int SLOTS = 4096;

  private final AtomicReferenceArray<@Nullable FileStreams> files =
      new AtomicReferenceArray<>(SLOTS);

  /**
   * Takes note of a read and tells what is likely to follow.
   *
   * @param thread who reads; 0 where it is unknown
   * @param now as the clock of nanoseconds tells it
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

  /** Takes note that bytes of a file which all were delivered are about to be given up. */
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
