package io.holdfast.fs.transit;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.ItemRange;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import java.util.function.Supplier;

/**
 * The unit of admission: a whole file, or one extent of a file larger than the item size. Also used
 * for a part of an item. Immutable.
 *
 * @param key names the item
 * @param path the file's path at the origin
 * @param version the version of the content
 * @param offset first byte within the file
 * @param length bytes
 */
public record Item(ItemKey key, Supplier<OriginPath> path, Version version, long offset, int length)
    implements ItemRange {
  /** Rejects a range that no file has. */
  public Item {
    if (offset < 0 || length < 0 || offset > Long.MAX_VALUE - length) {
      throw new IllegalArgumentException("no file has " + length + " bytes at " + offset);
    }
  }

  /** Returns the node of the content. */
  public long node() {
    return key.node();
  }

  /** Returns a part of the item. */
  Item part(int from, int to) {
    if (from < 0 || from >= to || to > length) {
      throw new IllegalArgumentException("no part of " + this + ": " + from + " to " + to);
    }
    return new Item(key, path, version, offset + from, to - from);
  }

  @Override
  public String toString() {
    return path.get() + "[" + offset + ",+" + length + "]";
  }
}
