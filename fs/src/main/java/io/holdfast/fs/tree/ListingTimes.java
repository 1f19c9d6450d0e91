package io.holdfast.fs.tree;

/** Knows which directories of a tree have been listed whole. Thread-safe. */
@FunctionalInterface
interface ListingTimes {
  /** Returns when all entries of a directory were listed last, in ns since 1970, or 0. */
  long listedAt(long directory);

  /**
   * Returns when a directory itself had changed last, as of then, in ns since 1970; 0 where that
   * may not tell whether it has other names since.
   */
  default long listedChanged(long directory) {
    return 0;
  }
}
