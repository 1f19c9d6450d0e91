package io.holdfast.fs;

/**
 * Names an item for the life of the mount: which extent of which node's content. Two items never
 * share a key, whatever the size of their files: both numbers stand apart, in 64 bits each.
 * Immutable.
 *
 * @param node the tree's number of the file; not negative
 * @param extent the item's number within the file, from 0
 */
public record ItemKey(long node, long extent) {
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  /** Rejects what no item has. */
  public ItemKey {
    if (node < 0 || extent < 0) {
      throw new IllegalArgumentException("no item is extent " + extent + " of node " + node);
    }
  }

  /** Neighbours in one file, and the first extents of many, are far apart. */
  @Override
  public int hashCode() {
    return Long.hashCode((node * SPREAD + extent) * SPREAD);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ItemKey key && node == key.node && extent == key.extent;
  }

  @Override
  public String toString() {
    return node + "/" + extent;
  }
}
