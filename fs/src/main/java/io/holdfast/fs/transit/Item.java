package io.holdfast.fs.transit;

import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import java.util.function.Supplier;

/**
 * The unit of admission: a whole file, or one extent of a file larger than the item size.
 * Immutable.
 *
 * @param id names the item for the life of the mount: see {@link #id(long, long)}
 * @param path where the file is at the origin
 * @param version the content that this item is a part of
 * @param offset first byte within the file
 * @param length bytes
 */
public record Item(long id, Supplier<OriginPath> path, Version version, long offset, int length) {
  /** Bits of an id that number the extents of one file: 16 million of them. */
  public static final int EXTENT_BITS = 24;

  /** Packs a node's id and the number of an extent. */
  public static long id(long node, long extent) {
    return node << EXTENT_BITS | extent;
  }

  /** Returns the node that an item's id was packed from. */
  public static long node(long id) {
    return id >>> EXTENT_BITS;
  }

  /** Returns the number of the extent that an item's id was packed from. */
  public static long extent(long id) {
    return id & ((1L << EXTENT_BITS) - 1);
  }

  /** Returns the same item, cut to a part of it. */
  Item part(int from, int to) {
    if (from < 0 || from >= to || to > length) {
      throw new IllegalArgumentException("no part of " + this + ": " + from + " to " + to);
    }
    return new Item(id, path, version, offset + from, to - from);
  }

  @Override
  public String toString() {
    return path.get() + "[" + offset + ",+" + length + "]";
  }
}
