package io.holdfast.fs.stats;

import java.util.Arrays;

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
