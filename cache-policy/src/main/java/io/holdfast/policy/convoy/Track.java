package io.holdfast.policy.convoy;

import java.util.Arrays;

/**
 * The files of one pass of a group, in the order in which its first job opens them, each once.
 * Grows while the pass is read. Not thread-safe.
 *
 * <p>Cost: 16 bytes a file, and up to as much again while it grows. A file is found by a hash table
 * with linear probing.
 */
final class Track {
  private static final int FEWEST = 64;

  /** Parts of a pass by which a job may be out of order, as workers are that read side by side. */
  private static final int PARTS = 16;

  private static final int LEAST_REACH = 64;
  private static final int MOST_REACH = 4096;

  /** The number of the pass within its group; passes after it have larger ones. */
  final int number;

  private long[] files = new long[FEWEST];

  /** Places, counted from 1; 0 is an empty slot. */
  private int[] slots = new int[2 * FEWEST];

  private int size;

  /** The room in the budget that all files take which the front of the group had to fetch. */
  long missingRoom;

  Track(int number) {
    this.number = number;
  }

  /** Returns the place of a file; -1 if the pass does not have it. */
  int find(long file) {
    return slots[slot(file)] - 1;
  }

  private int slot(long file) {
    int slot = hash(file) & (slots.length - 1);
    while (slots[slot] != 0 && files[slots[slot] - 1] != file) {
      slot = (slot + 1) & (slots.length - 1);
    }
    return slot;
  }

  /** The finalizer of MurmurHash3 (public domain). */
  private static int hash(long file) {
    long hash = (file ^ (file >>> 33)) * 0xff51afd7ed558ccdL;
    hash = (hash ^ (hash >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return (int) (hash ^ (hash >>> 33));
  }

  /** Adds a file that is not there; returns its place. */
  int append(long file) {
    if (size == files.length) {
      files = Arrays.copyOf(files, 2 * size);
      slots = new int[4 * size];
      for (int i = 0; i < size; i++) {
        slots[slot(files[i])] = i + 1;
      }
    }
    files[size] = file;
    slots[slot(file)] = size + 1;
    size++;
    return size - 1;
  }

  long file(int place) {
    return files[place];
  }

  int size() {
    return size;
  }

  /** Returns how far from the others a file of the pass may be opened. */
  int reach() {
    return Math.max(LEAST_REACH, Math.min(MOST_REACH, size / PARTS));
  }
}
