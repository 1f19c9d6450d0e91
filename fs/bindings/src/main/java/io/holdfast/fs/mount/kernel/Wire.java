package io.holdfast.fs.mount.kernel;

import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.StoreFigures;
import java.time.Duration;

/**
 * Layouts of the FUSE protocol 7.19 to 7.45, in the machine's byte order; see
 * include/uapi/linux/fuse.h. Stateless.
 *
 * <pre>
 * fuse_in_header  40: 0 len u32, 4 opcode u32, 8 unique u64, 16 nodeid u64, 24 uid, 28 gid, 32 pid u32, 36 padding
 * fuse_out_header 16: 0 len u32, 4 error i32, 8 unique u64
 * fuse_attr       88: 0 ino u64, 8 size, 16 blocks, 24 atime, 32 mtime, 40 ctime u64, 48 atimensec u32, 52 mtimensec,
 *                     56 ctimensec, 60 mode, 64 nlink, 68 uid, 72 gid, 76 rdev, 80 blksize, 84 flags u32
 * fuse_entry_out 128: 0 nodeid u64, 8 generation u64, 16 entry_valid u64, 24 attr_valid u64, 32 entry_valid_nsec u32,
 *                     36 attr_valid_nsec u32, 40 attr
 * fuse_attr_out  104: 0 attr_valid u64, 8 attr_valid_nsec u32, 12 dummy, 16 attr
 * fuse_kstatfs    80: 0 blocks u64, 8 bfree, 16 bavail, 24 files, 32 ffree u64, 40 bsize u32, 44 namelen, 48 frsize,
 *                     52 padding, 56 spare
 * fuse_read_in    40: 0 fh u64, 8 offset u64, 16 size u32, ...
 * fuse_dirent     24: 0 ino u64, 8 off u64, 16 namelen u32, 20 type u32, 24 name, padded to 8
 * fuse_direntplus   : fuse_entry_out, fuse_dirent
 * fuse_notify_store_out 24: 0 nodeid u64, 8 offset u64, 16 size u32, 20 padding
 * </pre>
 */
final class Wire {
  static final int IN_HEADER = 40;
  static final int OPCODE = 4;
  static final int UNIQUE = 8;
  static final int NODE = 16;
  static final int UID = 24;
  static final int GID = 28;
  static final int PID = 32;

  static final int OUT_HEADER = 16;
  static final int OUT_ERROR = 4;
  static final int OUT_UNIQUE = 8;

  static final int ENTRY = 128;
  static final int ATTR_OUT = 104;
  static final int STATFS = 80;
  static final int DIRENT = 24;
  static final int OPEN_OUT = 16;
  static final int XATTR_OUT = 8;

  /** Where the nodes of a BATCH_FORGET begin, behind their count, and the size of each. */
  static final int FORGETS = 8;

  static final int FORGET_ONE = 16;

  static final int STORE = 24;

  static final int READ_OFFSET = 8;
  static final int READ_SIZE = 16;

  private static final int ATTR = 88;
  private static final int ENTRY_ATTR = 40;
  private static final int ATTR_OUT_ATTR = 16;
  private static final long SECOND = 1_000_000_000L;
  private static final int BLOCK_SIZE = 4096;

  /**
   * The block size that a directory shows. The C library reads a directory in pieces of this size,
   * and of 32 KiB if the directory shows less: then each request would bring only 200 names.
   */
  private static final int LISTING_SIZE = 256 << 10;

  private static final int TYPE_SHIFT = 12;

  private Wire() {}

  /** Writes the entry that a name leads to. */
  static void entry(long to, long node, Attributes attributes, Duration ttl) {
    Memory.clear(to, ENTRY);
    Memory.putLong(to, node);
    validity(to, ttl);
    attributes(to + ENTRY_ATTR, attributes);
  }

  /** Writes the place in a file of the bytes that follow. */
  static void store(long to, long node, long offset, int length) {
    Memory.clear(to, STORE);
    Memory.putLong(to, node);
    Memory.putLong(to + 8, offset);
    Memory.putInt(to + 16, length);
  }

  /** Writes an entry that says that the name leads to nothing. */
  static void missing(long to, Duration ttl) {
    Memory.clear(to, ENTRY);
    validity(to, ttl);
  }

  private static void validity(long entry, Duration ttl) {
    Memory.putLong(entry + 16, ttl.toSeconds());
    Memory.putLong(entry + 24, ttl.toSeconds());
    Memory.putInt(entry + 32, ttl.toNanosPart());
    Memory.putInt(entry + 36, ttl.toNanosPart());
  }

  static void attrOut(long to, Attributes attributes, Duration ttl) {
    Memory.clear(to, ATTR_OUT);
    Memory.putLong(to, ttl.toSeconds());
    Memory.putInt(to + 8, ttl.toNanosPart());
    attributes(to + ATTR_OUT_ATTR, attributes);
  }

  private static void attributes(long to, Attributes from) {
    Memory.putLong(to, from.inode());
    Memory.putLong(to + 8, from.size());
    Memory.putLong(to + 16, from.blocks());
    time(to, 24, 48, from.accessed());
    time(to, 32, 52, from.modified());
    time(to, 40, 56, from.changed());
    Memory.putInt(to + 60, from.mode());
    Memory.putInt(to + 64, from.links());
    Memory.putInt(to + 68, from.uid());
    Memory.putInt(to + 72, from.gid());
    Memory.putInt(to + 76, (int) from.device());
    Memory.putInt(to + 80, from.isDirectory() ? LISTING_SIZE : BLOCK_SIZE);
    Memory.putInt(to + ATTR - 4, 0);
  }

  private static void time(long attr, int seconds, int nanos, long value) {
    Memory.putLong(attr + seconds, Math.floorDiv(value, SECOND));
    Memory.putInt(attr + nanos, (int) Math.floorMod(value, SECOND));
  }

  static void statfs(long to, StoreFigures figures) {
    Memory.clear(to, STATFS);
    Memory.putLong(to, figures.blocks());
    Memory.putLong(to + 8, figures.blocksFree());
    Memory.putLong(to + 16, figures.blocksAvailable());
    Memory.putLong(to + 24, figures.files());
    Memory.putLong(to + 32, figures.filesFree());
    Memory.putInt(to + 40, (int) figures.blockSize());
    Memory.putInt(to + 44, (int) figures.nameLength());
    Memory.putInt(to + 48, (int) figures.fragmentSize());
  }

  /** Returns the number of bytes that an entry of a directory takes. */
  static int direntSize(byte[] name) {
    return (DIRENT + name.length + 7) & ~7;
  }

  /**
   * Writes an entry of a directory.
   *
   * @param offset where the next entry begins
   */
  static void dirent(long to, byte[] name, int type, long inode, long offset) {
    int size = direntSize(name);
    Memory.clear(to + size - 8, 8);
    Memory.putLong(to, inode);
    Memory.putLong(to + 8, offset);
    Memory.putInt(to + 16, name.length);
    Memory.putInt(to + 20, type >>> TYPE_SHIFT);
    Memory.put(to + DIRENT, name, 0, name.length);
  }
}
