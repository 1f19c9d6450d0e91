package io.holdfast.fs.transit;

/**
 * What a fetch is for.
 *
 * @param item the item's id
 * @param part the number of the part, or {@link #WHOLE}
 */
record FetchKey(long item, int part) {
  static final int WHOLE = -1;

  @Override
  public int hashCode() {
    return Long.hashCode(item * 0x9E3779B97F4A7C15L) + part;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof FetchKey key && item == key.item && part == key.part;
  }
}
