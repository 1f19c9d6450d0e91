package io.holdfast.posix;

import jnr.ffi.Pointer;

/**
 * The attributes from statx(2) that must be the same on a mount and at its origin.
 *
 * <p>Left out: the device (it must differ), the access time (reading through the mount may move it
 * at the origin while the mount keeps its attributes for {@code --metadata-ttl}), the birth time
 * (FUSE has none) and the block size (a hint for I/O, not a fact of the file).
 */
public record Stat(
    int mode,
    long uid,
    long gid,
    long links,
    long inode,
    long size,
    long blocks,
    Time modified,
    Time changed,
    long rdevMajor,
    long rdevMinor) {

  /** Seconds and nanoseconds since 1970. */
  public record Time(long seconds, int nanos) {}

  /** Size of the kernel's structure. */
  public static final int BYTES = 256;

  private static final int LINKS = 16;
  private static final int UID = 20;
  private static final int GID = 24;
  private static final int MODE = 28;
  private static final int INODE = 32;
  private static final int SIZE = 40;
  private static final int BLOCKS = 48;
  private static final int CHANGED = 96;
  private static final int MODIFIED = 112;
  private static final int RDEV_MAJOR = 128;
  private static final int RDEV_MINOR = 132;

  private static final int TYPE_MASK = 0170000;

  static Stat read(Pointer statx) {
    return new Stat(
        statx.getShort(MODE) & 0xffff,
        unsigned(statx, UID),
        unsigned(statx, GID),
        unsigned(statx, LINKS),
        statx.getLong(INODE),
        statx.getLong(SIZE),
        statx.getLong(BLOCKS),
        time(statx, MODIFIED),
        time(statx, CHANGED),
        unsigned(statx, RDEV_MAJOR),
        unsigned(statx, RDEV_MINOR));
  }

  private static long unsigned(Pointer statx, int offset) {
    return statx.getInt(offset) & 0xffffffffL;
  }

  private static Time time(Pointer statx, int offset) {
    return new Time(statx.getLong(offset), statx.getInt(offset + 8));
  }

  public int type() {
    return mode & TYPE_MASK;
  }

  public boolean isDirectory() {
    return type() == Posix.S_IFDIR;
  }

  public boolean isRegular() {
    return type() == Posix.S_IFREG;
  }

  public boolean isSymlink() {
    return type() == Posix.S_IFLNK;
  }
}
