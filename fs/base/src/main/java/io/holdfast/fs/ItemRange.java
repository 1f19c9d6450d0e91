package io.holdfast.fs;

/**
 * A range of bytes of one version of one item. A read asks for such a range, and memory holds one.
 * Immutable.
 */
public interface ItemRange {
  /** Names the item. */
  ItemKey key();

  /** Returns the version of the file that the bytes are of; equal objects are the same version. */
  Object version();

  /** Returns the offset of the first byte within the file. */
  long offset();

  /** Returns how many bytes there are. */
  int length();
}
