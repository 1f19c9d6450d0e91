package io.holdfast.fs.tree;

import io.holdfast.fs.origin.Attributes;

/** What those who write records of a {@link TreeImage} share with those who read them. */
final class ImageRecords {
  /** The entry is in the same directory as the one before. */
  static final int FLAG_SAME_DIRECTORY = 1;

  /** Mode, links, uid, gid and ACL are those of the entry before. */
  static final int FLAG_SAME_OWNER = 2;

  /** Nobody has read or touched it since it was modified, or the store does not say. */
  static final int FLAG_ONE_TIME = 4;

  static final int FLAG_DEVICE = 8;
  static final int FLAG_ETAG = 16;

  /** Not an entry: a directory was listed whole. */
  static final int FLAG_LISTED = 32;

  static final int FLAG_GENERATION = 64;

  /** Above all flags. */
  static final int FLAGS_END = 128;

  private static final int UNIT = 512;

  /** What the first entry is compared with. */
  static final Attributes NOTHING = new Attributes(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "");

  private ImageRecords() {}

  /** Returns the units of {@link Attributes#blocks()} that a size needs. */
  static long blocks(long size) {
    return (size + UNIT - 1) / UNIT;
  }
}
