package io.holdfast.fs.stats;

import io.holdfast.fs.ControlInodes;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** The files that one thread has opened, in order. Not thread-safe. */
public final class OpenBatch {
  /** The fewest bytes that an open counts, so that small files count too. */
  private static final int LEAST = 4096;

  private long[] files = new long[16];
  private long[] sizes = new long[16];
  private int count;

  /**
   * Adds an open.
   *
   * @param file names the file, always by the same number
   * @param size its bytes
   */
  public void add(long file, long size) {
    if (count == files.length) {
      files = Arrays.copyOf(files, 2 * count);
      sizes = Arrays.copyOf(sizes, 2 * count);
    }
    files[count] = file;
    sizes[count] = size;
    count++;
  }

  /**
   * Adds an open to the batch of its thread, unless it is that of a {@link ControlInodes control
   * file}.
   *
   * @param inode names the file; it is the origin's
   */
  static void add(Map<Integer, OpenBatch> byThread, int thread, long inode, long size) {
    if (!ControlInodes.has(inode)) {
      byThread.computeIfAbsent(thread, id -> new OpenBatch()).add(inode, size);
    }
  }

  /** Returns the opens that another batch does not have; one of it stands for one here. */
  OpenBatch without(OpenBatch other) {
    Map<Long, Integer> had = new HashMap<>();
    for (int i = 0; i < other.count; i++) {
      had.merge(other.files[i], 1, Integer::sum);
    }
    OpenBatch rest = new OpenBatch();
    for (int i = 0; i < count; i++) {
      if (had.merge(files[i], -1, Integer::sum) < 0) {
        rest.add(files[i], sizes[i]);
      }
    }
    return rest;
  }

  /** Returns the bytes of all files, each as often as it was opened, and at least a page. */
  long bytes() {
    long bytes = 0;
    for (int i = 0; i < count; i++) {
      bytes += Math.max(LEAST, sizes[i]);
    }
    return bytes;
  }

  /** Returns the items of all files, each as often as it was opened. */
  long items(int itemSize) {
    long items = 0;
    for (int i = 0; i < count; i++) {
      items += items(i, itemSize);
    }
    return items;
  }

  /** Returns the items of a file; a file without bytes is one item. */
  long items(int index, int itemSize) {
    return Math.max(0, sizes[index] - 1) / itemSize + 1;
  }

  /** Returns how many opens there are. */
  public int count() {
    return count;
  }

  /** Returns the file of an open, by its number. */
  public long file(int index) {
    return files[index];
  }

  long size(int index) {
    return sizes[index];
  }
}
