package io.holdfast.fs.transit;

/**
 * How files are cut into items: a file of at most the item size is one item, a larger one has
 * extents of that size. Immutable.
 *
 * @param itemSize bytes, a power of two
 */
public record ItemLayout(int itemSize) {
  /** Returns how many items a file of this size has; an empty one has none. */
  public long count(long size) {
    return (size + itemSize - 1) / itemSize;
  }

  /** Returns the item that holds the byte at an offset below the content's size. */
  public Item itemAt(Content content, long offset) {
    long extent = offset / itemSize;
    long start = extent * itemSize;
    int length = (int) Math.min(itemSize, content.version().size() - start);
    return new Item(
        Item.id(content.node(), extent), content.path(), content.version(), start, length);
  }
}
