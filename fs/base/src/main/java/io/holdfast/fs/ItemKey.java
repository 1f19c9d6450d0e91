package io.holdfast.fs;

/**
 * Names an item for the life of the mount, by node and extent. Both numbers have 64 bits, so two
 * items never share a key, whatever the size of their files. Immutable.
 *
 * @param node the tree's number of the file; not negative
 * @param extent the item's number within the file, from 0
 */
public record ItemKey(long node, long extent) {
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  /** Rejects negative numbers, which no item has. */
  public ItemKey {
    if (node < 0 || extent < 0) {
      throw new IllegalArgumentException("no item is extent " + extent + " of node " + node);
    }
  }

  /**
   * Spreads the hashes: neighbouring extents of one file, and the first extents of many files, are
   * far apart.
   */
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
