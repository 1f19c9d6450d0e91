package io.holdfast.fs.tree;

import java.util.Arrays;

/**
 * A hash table from a name in a directory to its node, with open addressing and linear probing. It
 * has several parts with a lock each. An entry is a node's place and one byte of the hash, which
 * avoids most comparisons with other names: 7 to 10 bytes of heap a node. Thread-safe; the monitor
 * of a part guards the part and is a leaf lock.
 */
final class NameIndex {
  private static final int PARTS = 64;
  private static final int FIRST_SLOTS = 16;
  private static final int ENTRY_BYTES = Integer.BYTES + 1;

  /**
   * Tags of a slot that was never used, and of a removed entry; a search continues behind a removed
   * entry.
   */
  private static final byte EMPTY = 0;

  private static final byte GONE = 1;

  private final NodeTable nodes;
  private final Part[] parts = new Part[PARTS];

  NameIndex(NodeTable nodes) {
    this.nodes = nodes;
    Arrays.setAll(parts, i -> new Part());
  }

  private Part part(int hash) {
    return parts[hash & (PARTS - 1)];
  }

  /** Returns the id of the node, or 0. */
  long find(long parent, byte[] name) {
    int hash = NameHash.of(parent, name);
    return part(hash).find(hash, parent, name);
  }

  /** Reserves room for a number of nodes. */
  void expect(long count) {
    for (Part part : parts) {
      part.expect(count / PARTS);
    }
  }

  /** Adds a node; its name must not be in the index. */
  void add(long id) {
    int hash = nodes.nameHash(id);
    part(hash).add(hash, id);
  }

  /** Removes a node; returns whether it was there. */
  boolean remove(long id) {
    int hash = nodes.nameHash(id);
    return part(hash).remove(hash, id);
  }

  /** Returns the bytes of heap that the index takes. */
  long bytes() {
    return Arrays.stream(parts).mapToLong(Part::bytes).sum();
  }

  private final class Part {
    private byte[] tags = new byte[FIRST_SLOTS];
    private int[] places = new int[FIRST_SLOTS];
    private int used;
    private int live;

    /** Takes bits of the hash that choose neither the part nor, mostly, the slot. */
    private static byte tag(int hash) {
      int tag = (hash >>> 6) & 0xff;
      return (byte) (tag <= GONE ? tag + 2 : tag);
    }

    /** Maps the upper bits of the hash to any number of slots (Lemire's "fast range"). */
    private int slot(int hash) {
      return (int) ((Integer.toUnsignedLong(hash) * tags.length) >>> Integer.SIZE);
    }

    private int next(int slot) {
      return slot + 1 == tags.length ? 0 : slot + 1;
    }

    synchronized long bytes() {
      return (long) tags.length * ENTRY_BYTES;
    }

    synchronized long find(int hash, long parent, byte[] name) {
      byte tag = tag(hash);
      for (int i = slot(hash); tags[i] != EMPTY; i = next(i)) {
        if (tags[i] == tag && nodes.isNamed(places[i], parent, name)) {
          return nodes.idAt(places[i]);
        }
      }
      return 0;
    }

    synchronized void add(int hash, long id) {
      if (4 * (used + 1L) > 3L * tags.length) {
        grow();
      }
      put(hash, nodes.place(id));
    }

    private void put(int hash, int place) {
      int i = slot(hash);
      while (tags[i] != EMPTY) {
        i = next(i);
      }
      tags[i] = tag(hash);
      places[i] = place;
      used++;
      live++;
    }

    /** Reserves slots, with room for uneven parts: hashes deviate by a few percent. */
    synchronized void expect(long count) {
      int slots = (int) (count / 2 * 3) + FIRST_SLOTS;
      if (slots > tags.length) {
        resize(slots);
      }
    }

    private void grow() {
      if (2 * live > tags.length) {
        resize(tags.length / 2 * 3);
      } else {
        resize(8 * live < tags.length ? Math.max(FIRST_SLOTS, tags.length / 2) : tags.length);
      }
    }

    private void resize(int slots) {
      // both, before any of them is used: there may be no memory for the second
      byte[] newTags = new byte[slots];
      int[] newPlaces = new int[slots];
      byte[] tagsBefore = tags;
      int[] placesBefore = places;
      tags = newTags;
      places = newPlaces;
      used = 0;
      live = 0;
      for (int i = 0; i < tagsBefore.length; i++) {
        if (tagsBefore[i] != EMPTY && tagsBefore[i] != GONE) {
          put(nodes.nameHash(nodes.idAt(placesBefore[i])), placesBefore[i]);
        }
      }
    }

    synchronized boolean remove(int hash, long id) {
      int place = nodes.place(id);
      for (int i = slot(hash); tags[i] != EMPTY; i = next(i)) {
        if (places[i] == place && tags[i] != GONE) {
          tags[i] = GONE;
          live--;
          return true;
        }
      }
      return false;
    }
  }
}
