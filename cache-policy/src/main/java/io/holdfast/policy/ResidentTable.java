package io.holdfast.policy;

import java.util.SplittableRandom;

/**
 * The residents and their weights: a compact map from long to positive long, for millions of
 * residents.
 *
 * <p>Open addressing with linear probing. Each slot has a tag of one byte: some bits of the id's
 * hash, or 0 for a free slot. The tags are in an array of their own that is probed first. For ten
 * million residents this array has 16 MB, which a processor's cache may hold, while each access to
 * the 256 MB of ids and weights is a cache miss. So a search for an absent item costs hardly any.
 * Removal moves later entries of the run back instead of leaving tombstones (Knuth, The Art of
 * Computer Programming, vol. 3, 6.4, Algorithm R), so a table with months of changes is as fast as
 * a new one. The table grows when it is over four fifths full, and shrinks when it is under a tenth
 * full: 21 to 43 bytes an entry while it grows.
 */
final class ResidentTable {

  /** The weight of an item that is not in the table. */
  static final long ABSENT = 0;

  private static final byte FREE = 0;
  private static final int MIN_SLOTS = 16;
  private static final int MAX_SLOTS = 1 << 29;

  /** Slot i holds its id at 2i and its weight at 2i + 1. */
  private long[] table = new long[2 * MIN_SLOTS];

  private byte[] tags = new byte[MIN_SLOTS];

  private int slots = MIN_SLOTS;
  private int size;

  int size() {
    return size;
  }

  /** Returns the number of slots, free or not; a slot takes 17 bytes. */
  int slots() {
    return slots;
  }

  /** The weight of an item, or {@link #ABSENT}. */
  long weight(long id) {
    int slot = find(id);
    return tags[slot] == FREE ? ABSENT : table[2 * slot + 1];
  }

  /** Adds an item that is not in the table, with a weight above 0. */
  void add(long id, long weight) {
    if ((size + 1) * 5L > slots * 4L) {
      rehash(slots * 2);
    }
    int slot = find(id);
    if (tags[slot] != FREE || weight <= 0) {
      throw new IllegalArgumentException("item " + id + " with weight " + weight);
    }
    put(slot, id, weight, tag(hash(id)));
    size++;
  }

  /** Removes an item; returns the weight it had, or {@link #ABSENT}. */
  long remove(long id) {
    int hole = find(id);
    if (tags[hole] == FREE) {
      return ABSENT;
    }
    long weight = table[2 * hole + 1];
    for (int slot = next(hole); tags[slot] != FREE; slot = next(slot)) {
      // The entry may move to the hole unless its home lies cyclically after the hole.
      int home = home(hash(table[2 * slot]));
      if (((slot - home) & (slots - 1)) >= ((slot - hole) & (slots - 1))) {
        put(hole, table[2 * slot], table[2 * slot + 1], tags[slot]);
        hole = slot;
      }
    }
    put(hole, 0, ABSENT, FREE);
    size--;
    if (slots > MIN_SLOTS && size < slots / 10) {
      try {
        rehash(slots / 2);
      } catch (OutOfMemoryError e) {
        // the item is removed all the same; the next removal shrinks the table
      }
    }
    return weight;
  }

  /** An item of the table, each equally likely. */
  long pick(SplittableRandom random) {
    if (size == 0) {
      throw new IllegalStateException("nothing to pick from");
    }
    // At least a tenth of the slots are taken, or there are few: this ends soon. Walking on from a
    // free slot instead would favour what follows a gap.
    int slot = random.nextInt(slots);
    while (tags[slot] == FREE) {
      slot = random.nextInt(slots);
    }
    return table[2 * slot];
  }

  /**
   * The recomputed sum of all weights.
   *
   * @throws IllegalStateException if an entry cannot be found, or the size is wrong
   */
  long checkedTotalWeight() {
    long total = 0;
    int count = 0;
    for (int slot = 0; slot < slots; slot++) {
      if (tags[slot] == FREE) {
        continue;
      }
      long weight = table[2 * slot + 1];
      if (weight <= 0 || find(table[2 * slot]) != slot) {
        throw new IllegalStateException(
            "item %d with weight %d is misplaced".formatted(table[2 * slot], weight));
      }
      total = Math.addExact(total, weight);
      count++;
    }
    if (count != size) {
      throw new IllegalStateException("%d items, tracked are %d".formatted(count, size));
    }
    return total;
  }

  /** The slot that holds the item, or the free one where it would go. */
  private int find(long id) {
    long hash = hash(id);
    byte tag = tag(hash);
    int slot = home(hash);
    while (tags[slot] != FREE && (tags[slot] != tag || table[2 * slot] != id)) {
      slot = next(slot);
    }
    return slot;
  }

  private int next(int slot) {
    return (slot + 1) & (slots - 1);
  }

  /** Ids are packed numbers, alike in most bits; the finalizer of MurmurHash3 spreads them. */
  private static long hash(long id) {
    long hash = (id ^ (id >>> 33)) * 0xff51afd7ed558ccdL;
    return hash ^ (hash >>> 33);
  }

  private int home(long hash) {
    return (int) hash & (slots - 1);
  }

  /** From the bits that {@link #home} uses last. */
  private static byte tag(long hash) {
    return (byte) ((hash >>> 57) + 1);
  }

  private void put(int slot, long id, long weight, byte tag) {
    table[2 * slot] = id;
    table[2 * slot + 1] = weight;
    tags[slot] = tag;
  }

  private void rehash(int newSlots) {
    if (newSlots > MAX_SLOTS) {
      throw new IllegalStateException("more than " + size + " residents are not possible");
    }
    long[] old = table;
    byte[] oldTags = tags;
    long[] newTable = new long[2 * newSlots];
    byte[] newTags = new byte[newSlots]; // with a full heap this fails while nothing has changed
    table = newTable;
    tags = newTags;
    slots = newSlots;
    for (int i = 0; i < oldTags.length; i++) {
      if (oldTags[i] != FREE) {
        put(find(old[2 * i]), old[2 * i], old[2 * i + 1], oldTags[i]);
      }
    }
  }
}
