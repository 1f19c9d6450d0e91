package io.holdfast.fs.stats;

import java.util.Arrays;

/** The files that one thread has opened, in order. Not thread-safe. */
public final class OpenBatch {
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

  int count() {
    return count;
  }

  long file(int index) {
    return files[index];
  }

  long size(int index) {
    return sizes[index];
  }
}
