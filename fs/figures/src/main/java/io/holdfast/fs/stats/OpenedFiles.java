package io.holdfast.fs.stats;

/**
 * The files that a job has opened, and when it opened each last. Not thread-safe.
 *
 * <p>A hash table of fingerprints, 32 bits a file, that never knows more than {@link #MOST} files.
 * In a larger dataset it knows a sample: the files whose fingerprints begin with so many zero bits.
 * A pass over the dataset is also a pass over the sample, so the sample suffices. A table never
 * takes more than 128 KiB, however large the dataset.
 */
final class OpenedFiles {
  /** The most files that are known. */
  static final int MOST = 8192;

  private static final int FIRST_SLOTS = 64;

  /** An empty slot; no file has this fingerprint. */
  private static final int EMPTY = 0;

  private int[] prints = new int[FIRST_SLOTS];
  private int[] times = new int[FIRST_SLOTS];
  private int size;
  private int zeroBits;

  /** Returns a file's fingerprint. */
  static int print(long file) {
    long hash = (file ^ (file >>> 32)) * 0x9E3779B97F4A7C15L;
    hash = (hash ^ (hash >>> 29)) * 0xBF58476D1CE4E5B9L;
    int print = (int) (hash >>> 32);
    return print == EMPTY ? 1 : print;
  }

  /** Tells whether a file is in the sample. */
  boolean takes(int print) {
    return Integer.numberOfLeadingZeros(print) >= zeroBits;
  }

  /** Returns the slot of a file, or a negative number if the file is not known. */
  int slot(int print) {
    int mask = prints.length - 1;
    int slot = print & mask;
    while (prints[slot] != print) {
      if (prints[slot] == EMPTY) {
        return -1 - slot;
      }
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /** Returns when the file in a slot was last opened: the lower bits of the number of an open. */
  int time(int slot) {
    return times[slot];
  }

  /**
   * Notes an open of a file.
   *
   * @param slot from {@link #slot}, with no other change since
   * @return whether the sample has only half of its files from now on
   */
  boolean put(int slot, int print, int time) {
    if (slot >= 0) {
      times[slot] = time;
      return false;
    }
    prints[-1 - slot] = print;
    times[-1 - slot] = time;
    size++;
    if (size > MOST) {
      zeroBits++;
      rebuild(prints.length);
      return true;
    }
    if (2 * size > prints.length) {
      rebuild(2 * prints.length);
    }
    return false;
  }

  /** Forgets the files that were not opened during the last so many opens. */
  void forget(int now, long opens) {
    int left = 0;
    for (int i = 0; i < prints.length; i++) {
      if (prints[i] != EMPTY && Integer.toUnsignedLong(now - times[i]) > opens) {
        prints[i] = EMPTY;
      } else if (prints[i] != EMPTY) {
        left++;
      }
    }
    if (left < size) {
      rebuild(Math.max(FIRST_SLOTS, Integer.highestOneBit(2 * left) << 1));
    }
  }

  /** Returns the number of files that are known. */
  int size() {
    return size;
  }

  private void rebuild(int slots) {
    int[] oldPrints = prints;
    int[] oldTimes = times;
    prints = new int[slots];
    times = new int[slots];
    size = 0;
    for (int i = 0; i < oldPrints.length; i++) {
      if (oldPrints[i] != EMPTY && takes(oldPrints[i])) {
        int slot = -1 - slot(oldPrints[i]);
        prints[slot] = oldPrints[i];
        times[slot] = oldTimes[i];
        size++;
      }
    }
  }
}
