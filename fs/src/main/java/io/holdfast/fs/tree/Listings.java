package io.holdfast.fs.tree;

/** Knows which directories of a tree have been listed whole. Thread-safe. */
@FunctionalInterface
interface Listings {
  /** Returns when all entries of a directory were listed last, in ns since 1970, or 0. */
  long listedAt(long directory);
}
