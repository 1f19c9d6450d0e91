package io.holdfast.fs.allocate;

/**
 * An origin that a mount reads beside others. Immutable.
 *
 * @param name of the origin
 * @param readers those of the mount's job, at least 1: the more of them wait, the more they get
 */
public record OriginShare(String name, long readers) {
  /** The most readers that are believed. */
  static final long MOST_READERS = 1_000_000;
}
