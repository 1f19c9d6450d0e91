package io.holdfast.fs.transit;

import org.jspecify.annotations.Nullable;

/**
 * A prediction of the reads after a read. Immutable.
 *
 * @param whole whether the whole item will be read
 * @param extra bytes beyond the read that may be fetched with it
 * @param sequential whether the read is part of a run
 * @param stream the stream of the read; null where it is unknown
 * @param retirements the file's count of retirements at the time of the prediction
 */
record Guess(
    boolean whole, int extra, boolean sequential, @Nullable ReadStream stream, int retirements) {
  /** The whole item will be read. */
  static final Guess WHOLE = new Guess(true, 0, false, null, 0);

  /** No further read is expected. */
  static final Guess NOTHING = new Guess(false, 0, false, null, 0);

  /**
   * Tells whether bytes that were missing at the prediction may have been fetched and read since.
   */
  boolean isOld() {
    return stream != null && stream.file().hasRetiredSince(retirements);
  }
}
