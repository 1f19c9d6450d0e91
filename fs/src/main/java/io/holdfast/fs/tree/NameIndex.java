package io.holdfast.fs.tree;

import java.util.Arrays;

/**
 * Finds the node that a name within a directory leads to. Open hashing with linear probing, in a
 * few parts with a lock each; an entry is a node's id with some bits of the hash, 11 to 22 bytes a
 * node. Thread-safe; the monitor of a part guards it, and is a leaf.
 */
final class NameIndex {
  private static final int PARTS = 64;
  private static final int PART_BITS = 6;
  private static final int FIRST_SLOTS = 16;
  private static final int ID_BITS = 40;
  private static final long ID_MASK = (1L << ID_BITS) - 1;

  /** Where an entry was; a search goes on behind it. */
  private static final long GONE = -1;

  private final NodeTable nodes;
  private final Part[] parts = new Part[PARTS];

  NameIndex(NodeTable nodes) {
    this.nodes = nodes;
    Arrays.setAll(parts, i -> new Part());
  }

  static int hash(long parent, byte[] name) {
    long mixed = (parent * 31 + Arrays.hashCode(name)) * 0x9E3779B97F4A7C15L;
    return (int) (mixed >>> 32);
  }

  private Part part(int hash) {
    return parts[hash & (PARTS - 1)];
  }

  /** Returns the id of the node, or 0. */
  long find(long parent, byte[] name) {
    int hash = hash(parent, name);
    return part(hash).find(hash, parent, name);
  }

  /** Adds a node, whose name leads nowhere now. */
  void add(long id) {
    int hash = hash(nodes.parent(id), nodes.name(id));
    part(hash).add(hash, id);
  }

  /** Takes a node out; returns whether it was there. */
  boolean remove(long id) {
    int hash = hash(nodes.parent(id), nodes.name(id));
    return part(hash).remove(hash, id);
  }

  private final class Part {
    private long[] slots = new long[FIRST_SLOTS];
    private int used;
    private int live;

    private static long entry(int hash, long id) {
      return (long) (hash >>> (Integer.SIZE - (Long.SIZE - ID_BITS - 1))) << ID_BITS | id;
    }

    private int slot(int hash) {
      return (hash >>> PART_BITS) & (slots.length - 1);
    }

    synchronized long find(int hash, long parent, byte[] name) {
      long tag = entry(hash, 0);
      for (int i = slot(hash); slots[i] != 0; i = (i + 1) & (slots.length - 1)) {
        long id = slots[i] & ID_MASK;
        if (slots[i] != GONE && slots[i] - id == tag && nodes.isNamed(id, parent, name)) {
          return id;
        }
      }
      return 0;
    }

    synchronized void add(int hash, long id) {
      if (4 * (used + 1) > 3 * slots.length) {
        grow();
      }
      put(hash, id);
    }

    private void put(int hash, long id) {
      int i = slot(hash);
      while (slots[i] != 0) {
        i = (i + 1) & (slots.length - 1);
      }
      slots[i] = entry(hash, id);
      used++;
      live++;
    }

    private void grow() {
      long[] before = slots;
      slots = new long[2 * live > before.length / 2 ? 2 * before.length : before.length];
      used = 0;
      live = 0;
      for (long entry : before) {
        if (entry != 0 && entry != GONE) {
          long id = entry & ID_MASK;
          put(hash(nodes.parent(id), nodes.name(id)), id);
        }
      }
    }

    synchronized boolean remove(int hash, long id) {
      long entry = entry(hash, id);
      for (int i = slot(hash); slots[i] != 0; i = (i + 1) & (slots.length - 1)) {
        if (slots[i] == entry) {
          slots[i] = GONE;
          live--;
          return true;
        }
      }
      return false;
    }
  }
}
