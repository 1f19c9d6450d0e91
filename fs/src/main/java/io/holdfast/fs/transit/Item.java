package io.holdfast.fs.transit;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.ItemRange;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import java.util.function.Supplier;

/**
 * The unit of admission: a whole file, or one extent of a file larger than the item size; or a part
 * of that. Immutable.
 *
 * @param key names the item
 * @param path where the file is at the origin
 * @param version the content that this item is a part of
 * @param offset first byte within the file
 * @param length bytes
 */
public record Item(ItemKey key, Supplier<OriginPath> path, Version version, long offset, int length)
    implements ItemRange {
  /** Rejects what no file has. */
  public Item {
    if (offset < 0 || length < 0 || offset > Long.MAX_VALUE - length) {
      throw new IllegalArgumentException("no file has " + length + " bytes at " + offset);
    }
  }

  /** Returns the node whose content this is a part of. */
  public long node() {
    return key.node();
  }

  /** Returns the same item, cut to a part of it. */
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
