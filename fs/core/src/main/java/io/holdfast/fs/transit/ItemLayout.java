package io.holdfast.fs.transit;

import io.holdfast.fs.ItemKey;
import java.util.Objects;

/**
 * Cuts files into items: a file of at most the item size is one item, a larger file has extents of
 * that size. The arithmetic is exact up to file sizes of 2^63-1 bytes. Immutable.
 *
 * @param itemSize bytes, a power of two
 */
public record ItemLayout(int itemSize) {
  /** Returns how many items a file of this size has; an empty file has none. */
  public long count(long size) {
    return size <= 0 ? 0 : (size - 1) / itemSize + 1;
  }

  /**
   * Returns the item that holds a byte.
   *
   * @throws IndexOutOfBoundsException if the content has no byte at that offset
   */
  public Item itemAt(Content content, long offset) {
    Objects.checkIndex(offset, Math.max(0, content.version().size()));
    return item(content, offset / itemSize);
  }

  /**
   * Returns one of a content's items, counted from 0.
   *
   * @throws IndexOutOfBoundsException if the content has fewer items
   */
  public Item item(Content content, long extent) {
    long size = content.version().size();
    Objects.checkIndex(extent, count(size));
    long start = Math.multiplyExact(extent, itemSize);
    int length = (int) Math.min(itemSize, size - start);
    ItemKey key = new ItemKey(content.node(), extent);
    return new Item(key, content.path(), content.version(), start, length);
  }
}
