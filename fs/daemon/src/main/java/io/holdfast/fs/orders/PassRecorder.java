package io.holdfast.fs.orders;

import java.util.Arrays;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The files that one job opens in a pass, and those of the pass before it, as 32-bit fingerprints.
 * A pass ends when the job opens one of its first files again. Not thread-safe.
 *
 * <p>Programs open a file to look at it and again to read it, so an open of a file that was opened
 * a moment ago is not recorded.
 */
final class PassRecorder {
  /** The fewest files of a pass: with fewer there is nothing to fetch ahead. */
  static final int FEWEST = 64;

  /** How many of a pass's first files tell that the job begins again. */
  private static final int FIRST = 64;

  /** An open of one of so many files before does not count. */
  private static final int RECENT = 16;

  /** How many opens tell whether a pass is one that has been recorded. */
  private static final int COMPARED = 64;

  /** How many of these have to be where they were. */
  private static final double ALIKE = 0.875;

  /** Workers take files out of order: by one of so many parts of the pass, and so many files. */
  private static final int PARTS = 16;

  private static final int LEAST_REACH = 16;

  private int[] files = new int[FEWEST];
  private int count;
  private long bytesBefore;
  private @Nullable Pass last;

  /** A pass that has been recorded: fingerprints in the order of the opens. Immutable. */
  static final class Pass {
    private final int[] files;
    private final long fetchedBytes;

    Pass(int[] files, long fetchedBytes) {
      this.files = files;
      this.fetchedBytes = fetchedBytes;
    }

    int size() {
      return files.length;
    }

    int file(int place) {
      return files[place];
    }

    /** Returns what was fetched for the job meanwhile. */
    long fetchedBytes() {
      return fetchedBytes;
    }

    /** Tells whether another pass begins as this one. */
    private boolean beginsAs(int[] other, int compared) {
      int reach = reach(files.length);
      int alike = 0;
      for (int i = 0; i < compared; i++) {
        int to = Math.min(files.length, i + reach + 1);
        for (int j = Math.max(0, i - reach); j < to; j++) {
          if (files[j] == other[i]) {
            alike++;
            break;
          }
        }
      }
      return alike >= ALIKE * compared;
    }
  }

  /** Returns how far from its place a file of a pass may be opened. */
  static int reach(int length) {
    return Math.min(Order.NEAR, Math.max(LEAST_REACH, length / PARTS));
  }

  /** Returns the fingerprint of a file, by the finalizer of MurmurHash3 (public domain). */
  static int print(long inode) {
    long hash = (inode ^ (inode >>> 33)) * 0xff51afd7ed558ccdL;
    hash = (hash ^ (hash >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return (int) (hash ^ (hash >>> 33));
  }

  /**
   * Records an open.
   *
   * @param fetchedBytes what has been fetched for the job so far
   * @return whether the pass has just become long enough to be compared with others
   */
  boolean opened(long inode, LongSupplier fetchedBytes) {
    int file = print(inode);
    if (isRecent(file)) {
      return false;
    }
    if (count == 0) {
      bytesBefore = fetchedBytes.getAsLong();
    } else if (count >= FEWEST && isFirst(file)) {
      long bytes = fetchedBytes.getAsLong();
      last = new Pass(Arrays.copyOf(files, count), bytes - bytesBefore);
      bytesBefore = bytes;
      count = 0;
    }
    if (count == files.length) {
      files = Arrays.copyOf(files, 2 * count);
    }
    files[count] = file;
    count++;
    return count == COMPARED;
  }

  private boolean isRecent(int file) {
    for (int i = count - 1; i >= Math.max(0, count - RECENT); i--) {
      if (files[i] == file) {
        return true;
      }
    }
    return false;
  }

  /** Returns the files of the pass under way, sorted. */
  int[] sorted() {
    int[] sorted = Arrays.copyOf(files, count);
    Arrays.sort(sorted);
    return sorted;
  }

  private boolean isFirst(int file) {
    for (int i = 0; i < FIRST; i++) {
      if (files[i] == file) {
        return true;
      }
    }
    return false;
  }

  /** Tells whether the pass under way begins as another one. */
  boolean repeats(Pass pass) {
    return pass.beginsAs(files, Math.min(count, COMPARED));
  }

  /** Returns the last pass; null if none has ended. */
  @Nullable Pass last() {
    return last;
  }

  /** Returns how many files the pass under way has. */
  int count() {
    return count;
  }

  /** Returns how many fingerprints are in memory. */
  long size() {
    return files.length + (last == null ? 0L : last.files.length);
  }

  /** Forgets the pass under way. */
  void beginAnew() {
    files = new int[FEWEST];
    count = 0;
  }
}
