package io.holdfast.fs.origin.posix;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.origin.Attributes;

/**
 * The statx call, and the inode's generation where it is needed. The answer has the same layout on
 * every machine:
 *
 * <pre>
 *   0 mask u32      16 nlink u32   28 mode u16    48 blocks u64   112 mtime {s64, u32}
 *   4 blksize u32   20 uid u32     32 ino u64     64 atime        128 rdev major u32
 *   8 attrs u64     24 gid u32     40 size u64    80 btime        132 rdev minor u32
 *                                                 96 ctime        136 dev major u32, minor u32
 * </pre>
 *
 * <p>The generation is read where an inode has no birth time. Such inodes (ext4 with inodes of 128
 * bytes) have times in whole seconds, and these alone do not reveal an inode that has taken
 * another's number. The generation is in the handle that the kernel gives to file servers:
 *
 * <pre>
 *   0 bytes u32   4 type u32   8 ino u32   12 generation u32
 * </pre>
 */
final class Statx {
  private static final int BASIC_STATS = 0x7ff;
  private static final int BIRTH_TIME = 0x800;

  /** Has a network filesystem's server answer, and not its client on this machine. */
  static final int FORCE_SYNC = 0x2000;

  /** Offsets of the handle and of the number of its mount, behind the answer of 256 bytes. */
  private static final int HANDLE = 256;

  private static final int HANDLE_ROOM = 128;
  private static final int HANDLE_TYPE = HANDLE + 4;
  private static final int HANDLE_INO = HANDLE + 8;
  private static final int HANDLE_GENERATION = HANDLE + 12;
  private static final int MOUNT_ID = HANDLE + 8 + HANDLE_ROOM;

  /** The type of a handle that is an inode number of 32 bits and a generation. */
  private static final int FILEID_INO32_GEN = 1;

  private static final int INO32_GEN_BYTES = 8;

  /** Offset at which the generation is stored; 0 stands for none. */
  private static final int GENERATION = MOUNT_ID + 8;

  private static final int NLINK = 16;
  private static final int UID = 20;
  private static final int GID = 24;
  private static final int MODE = 28;
  private static final int INO = 32;
  private static final int SIZE = 40;
  private static final int BLOCKS = 48;
  private static final int ATIME = 64;
  private static final int BTIME = 80;
  private static final int CTIME = 96;
  private static final int MTIME = 112;
  private static final int RDEV_MAJOR = 128;
  private static final int RDEV_MINOR = 132;
  private static final int DEV_MAJOR = 136;
  private static final int DEV_MINOR = 140;
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private Statx() {}

  /**
   * Reads the attributes of an open descriptor into this thread's scratch area.
   *
   * @return 0, or a positive errno
   */
  static int call(int fd) {
    return call(fd, 0);
  }

  /** The same with {@link #FORCE_SYNC} or 0. */
  static int call(int fd, int sync) {
    long area = Linux.scratch().area();
    long path = Linux.scratch().path();
    Memory.putByte(path, 0);
    return call(fd, path, Linux.AT_EMPTY_PATH | sync, area);
  }

  /**
   * Reads the attributes of an entry of an open directory; for a symlink, its own.
   *
   * @return 0, or a positive errno
   */
  static int call(int directory, byte[] name) {
    return call(directory, name, 0);
  }

  /** The same with {@link #FORCE_SYNC} or 0. */
  static int call(int directory, byte[] name, int sync) {
    long area = Linux.scratch().area();
    long path = Linux.scratch().path();
    Memory.putString(path, name);
    return call(directory, path, Linux.AT_SYMLINK_NOFOLLOW | sync, area);
  }

  private static int call(int fd, long path, int flags, long area) {
    if (LIBC.statx(fd, path, flags, BASIC_STATS | BIRTH_TIME, area) != 0) {
      return Linux.errno();
    }
    boolean tellsBirth = (Memory.getInt(area) & BIRTH_TIME) != 0;
    // by name, the handle of a symlink is its own
    int generation = tellsBirth ? 0 : generation(fd, path, flags & Linux.AT_EMPTY_PATH, area);
    Memory.putInt(area + GENERATION, generation);
    return 0;
  }

  private static int generation(int fd, long path, int flags, long area) {
    Memory.putInt(area + HANDLE, HANDLE_ROOM);
    long inode = Memory.getLong(area + INO);
    boolean known =
        LIBC.name_to_handle_at(fd, path, area + HANDLE, area + MOUNT_ID, flags) == 0
            && Memory.getInt(area + HANDLE_TYPE) == FILEID_INO32_GEN
            && Memory.getInt(area + HANDLE) == INO32_GEN_BYTES
            && Integer.toUnsignedLong(Memory.getInt(area + HANDLE_INO)) == inode;
    return known ? Memory.getInt(area + HANDLE_GENERATION) : 0;
  }

  /** Returns the attributes that this thread's last {@link #call} has read. */
  static Attributes attributes() {
    long at = Linux.scratch().area();
    return new Attributes(
        Memory.getShort(at + MODE),
        Memory.getInt(at + NLINK),
        Memory.getInt(at + UID),
        Memory.getInt(at + GID),
        device(Memory.getInt(at + RDEV_MAJOR), Memory.getInt(at + RDEV_MINOR)),
        Memory.getLong(at + INO),
        Memory.getLong(at + SIZE),
        Memory.getLong(at + BLOCKS),
        nanos(at + ATIME),
        nanos(at + MTIME),
        nanos(at + CTIME),
        "",
        Memory.getInt(at + GENERATION),
        0);
  }

  /** Returns the birth time of the entry of the last {@link #call}; 0 where the store has none. */
  static long born() {
    long at = Linux.scratch().area();
    return (Memory.getInt(at) & BIRTH_TIME) == 0 ? 0 : nanos(at + BTIME);
  }

  /** Returns the number of the device with the entry of the last {@link #call}. */
  static long onDevice() {
    long at = Linux.scratch().area();
    return device(Memory.getInt(at + DEV_MAJOR), Memory.getInt(at + DEV_MINOR));
  }

  /** Returns the name of a device in the mount table. */
  static String deviceName(long device) {
    long major = (device >>> 8 & 0xfff) | (device >>> 32 & ~0xfffL);
    long minor = (device & 0xff) | (device >>> 12 & 0xffff_ff00L);
    return major + ":" + minor;
  }

  /** Converts a time; clamps it to the years 1677 to 2262. */
  private static long nanos(long at) {
    long seconds = Memory.getLong(at);
    long limit = Long.MAX_VALUE / NANOS_PER_SECOND - 1;
    return Math.max(-limit, Math.min(limit, seconds)) * NANOS_PER_SECOND + Memory.getInt(at + 8);
  }

  /** Encodes like glibc's makedev. */
  private static long device(int major, int minor) {
    long high = Integer.toUnsignedLong(major);
    long low = Integer.toUnsignedLong(minor);
    return (low & 0xff) | (high & 0xfff) << 8 | (low & ~0xffL) << 12 | (high & ~0xfffL) << 32;
  }
}
