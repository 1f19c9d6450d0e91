package io.holdfast.fs.tree;

/** Tells which directories of a tree have been listed completely. Thread-safe. */
@FunctionalInterface
interface ListingTimes {
  /** Returns the time of the last complete listing of a directory, in ns since 1970, or 0. */
  long listedAt(long directory);

  /**
   * Returns the directory's own change time at that listing, in ns since 1970. Returns 0 where the
   * change time cannot tell whether names have changed since.
   */
  default long listedChanged(long directory) {
    return 0;
  }
}
