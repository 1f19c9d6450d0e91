package io.holdfast.policy.cluster;

import java.util.Arrays;

/**
 * The copies of items on the nodes of a cluster, and lists of those that may be evicted. A copy is
 * a number from 0, and at most in one list, in which the newest is first. 24 bytes a copy, 4 an
 * item and 4 a list. Not thread-safe.
 */
final class Copies {
  static final int NONE = -1;

  private static final int MOST = Integer.MAX_VALUE - 8;

  /** For each item, its newest copy. */
  private final int[] first;

  /** For each list, its first copy. */
  private final int[] heads;

  private int[] items = new int[1 << 10];
  private int[] nodes = new int[1 << 10];

  /** The item's next copy; the next unused number, where the number is unused. */
  private int[] sibling = new int[1 << 10];

  private int[] list = new int[1 << 10];
  private int[] before = new int[1 << 10];
  private int[] after = new int[1 << 10];
  private int made;
  private int unused = NONE;

  Copies(int items, int lists) {
    first = new int[items];
    Arrays.fill(first, NONE);
    heads = new int[lists];
    Arrays.fill(heads, NONE);
  }

  /** Adds a copy, which is in no list. */
  int add(int item, int node) {
    int copy = unused;
    if (copy == NONE) {
      copy = made++;
      grow();
    } else {
      unused = sibling[copy];
    }
    items[copy] = item;
    nodes[copy] = node;
    list[copy] = NONE;
    sibling[copy] = first[item];
    first[item] = copy;
    return copy;
  }

  private void grow() {
    if (made > items.length) {
      if (items.length == MOST) {
        throw new OutOfMemoryError("more than " + MOST + " copies");
      }
      int length = (int) Math.min(MOST, 2L * items.length);
      items = Arrays.copyOf(items, length);
      nodes = Arrays.copyOf(nodes, length);
      sibling = Arrays.copyOf(sibling, length);
      list = Arrays.copyOf(list, length);
      before = Arrays.copyOf(before, length);
      after = Arrays.copyOf(after, length);
    }
  }

  /** Removes a copy, from its list as well. */
  void remove(int copy) {
    unlink(copy);
    int item = items[copy];
    if (first[item] == copy) {
      first[item] = sibling[copy];
    } else {
      int each = first[item];
      while (sibling[each] != copy) {
        each = sibling[each];
      }
      sibling[each] = sibling[copy];
    }
    items[copy] = NONE;
    sibling[copy] = unused;
    unused = copy;
  }

  /** Returns a number above those of all copies. */
  int end() {
    return made;
  }

  /** Returns the item of a copy, or {@link #NONE} if there is no such copy. */
  int item(int copy) {
    return items[copy];
  }

  int node(int copy) {
    return nodes[copy];
  }

  /** Returns a copy of an item, or {@link #NONE}. */
  int first(int item) {
    return first[item];
  }

  /** Returns the next copy of the same item, or {@link #NONE}. */
  int next(int copy) {
    return sibling[copy];
  }

  boolean isOnly(int copy) {
    return first[items[copy]] == copy && sibling[copy] == NONE;
  }

  /** Returns the copy of an item on a node, or {@link #NONE}. */
  int at(int item, int node) {
    int copy = first[item];
    while (copy != NONE && nodes[copy] != node) {
      copy = sibling[copy];
    }
    return copy;
  }

  /** Puts a copy into a list, and takes it out of the one that it is in. */
  void link(int copy, int into) {
    unlink(copy);
    list[copy] = into;
    before[copy] = NONE;
    after[copy] = heads[into];
    if (after[copy] != NONE) {
      before[after[copy]] = copy;
    }
    heads[into] = copy;
  }

  void unlink(int copy) {
    int from = list[copy];
    if (from == NONE) {
      return;
    }
    if (before[copy] == NONE) {
      heads[from] = after[copy];
    } else {
      after[before[copy]] = after[copy];
    }
    if (after[copy] != NONE) {
      before[after[copy]] = before[copy];
    }
    list[copy] = NONE;
  }

  /** Returns the first copy of a list, or {@link #NONE}. */
  int head(int of) {
    return heads[of];
  }

  /** Returns the next copy of the same list, or {@link #NONE}. */
  int following(int copy) {
    return after[copy];
  }
}
