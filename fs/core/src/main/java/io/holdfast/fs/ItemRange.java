package io.holdfast.fs;

/**
 * A range of bytes of one version of one item: what a read asks for, or what memory holds.
 * Immutable.
 */
public interface ItemRange {
  /** Names the item. */
  ItemKey key();

  /** Returns the version of the file that the bytes are of; two are the same if they are equal. */
  Object version();

  /** Returns the first byte, within the file. */
  long offset();

  /** Returns how many bytes there are. */
  int length();
}
