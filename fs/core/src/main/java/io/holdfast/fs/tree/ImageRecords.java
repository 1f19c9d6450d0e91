package io.holdfast.fs.tree;

import io.holdfast.fs.origin.Attributes;

/** Constants that the writer and the reader of a {@link TreeImage} share. */
final class ImageRecords {
  /** The entry is in the directory of the entry before it. */
  static final int FLAG_SAME_DIRECTORY = 1;

  /** Mode, links, uid, gid and ACL equal those of the entry before it. */
  static final int FLAG_SAME_OWNER = 2;

  /** Access and change time equal the modification time, or the store reports only one time. */
  static final int FLAG_ONE_TIME = 4;

  static final int FLAG_DEVICE = 8;
  static final int FLAG_ETAG = 16;

  /** The record is not an entry: a directory was listed completely. */
  static final int FLAG_LISTED = 32;

  static final int FLAG_GENERATION = 64;

  /** Greater than every combination of flags. */
  static final int FLAGS_END = 128;

  private static final int UNIT = 512;

  /** The first entry is compared with these attributes. */
  static final Attributes NOTHING = new Attributes(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "");

  private ImageRecords() {}

  /** Returns the blocks, as in {@link Attributes#blocks()}, that a size needs. */
  static long blocks(long size) {
    return (size + UNIT - 1) / UNIT;
  }
}
