package io.holdfast.fs.transit;

import org.jspecify.annotations.Nullable;

/**
 * What a read is likely to be followed by. Immutable.
 *
 * @param whole whether all of the item will be read
 * @param extra bytes beyond the read that may be fetched with it
 * @param sequential whether the read is one of a run
 * @param stream the way through the file that the read is on; null where it is not known
 * @param retirements of the file, when this was guessed
 */
record Guess(
    boolean whole, int extra, boolean sequential, @Nullable ReadStream stream, int retirements) {
  /** All of the item. */
  static final Guess WHOLE = new Guess(true, 0, false, null, 0);

  /** Nothing. */
  static final Guess NOTHING = new Guess(false, 0, false, null, 0);

  /** Tells whether what was guessed to be missing may have been fetched and read since. */
  boolean isOld() {
    return stream != null && stream.file().hasRetiredSince(retirements);
  }
}
