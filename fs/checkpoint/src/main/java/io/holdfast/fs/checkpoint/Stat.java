package io.holdfast.fs.checkpoint;

/**
 * Attributes of a file. Immutable.
 *
 * @param mode type and permissions
 * @param size bytes
 * @param blocks units of 512 bytes that are allocated
 * @param accessed nanoseconds of the epoch, as are {@code modified} and {@code changed}
 */
public record Stat(
    long inode,
    int mode,
    int links,
    int uid,
    int gid,
    long device,
    long size,
    long blocks,
    long accessed,
    long modified,
    long changed) {
  public static final int TYPE = 0170000;
  public static final int DIRECTORY = 0040000;
  public static final int REGULAR = 0100000;
  public static final int SYMLINK = 0120000;
  public static final int SET_USER = 04000;
  public static final int SET_GROUP = 02000;
  public static final int GROUP_EXECUTE = 010;

  /** Returns the type bits of the mode. */
  public int type() {
    return mode & TYPE;
  }

  public boolean isDirectory() {
    return type() == DIRECTORY;
  }

  public boolean isRegular() {
    return type() == REGULAR;
  }

  public boolean isSymlink() {
    return type() == SYMLINK;
  }
}
