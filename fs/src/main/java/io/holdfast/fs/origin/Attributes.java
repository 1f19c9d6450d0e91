package io.holdfast.fs.origin;

/**
 * What stat tells of an entry. Immutable.
 *
 * @param mode type and permission bits, as in st_mode
 * @param links number of names
 * @param uid owner
 * @param gid group
 * @param device device number of a device node, in the kernel's encoding of dev_t
 * @param inode inode number at the origin
 * @param size bytes of content
 * @param blocks allocated units of 512 bytes
 * @param accessed time of the last access, in nanoseconds since 1970 (UTC)
 * @param modified time of the last change of the content, likewise
 * @param changed time of the last change of content or attributes, likewise
 * @param etag the store's own name for the content, without quotes; empty where it has none
 */
public record Attributes(
    int mode,
    int links,
    int uid,
    int gid,
    long device,
    long inode,
    long size,
    long blocks,
    long accessed,
    long modified,
    long changed,
    String etag) {
  /** The bits of {@link #mode()} that hold the type. */
  public static final int TYPE_MASK = 0xf000;

  /** The type of a regular file. */
  public static final int REGULAR = 0x8000;

  /** The type of a directory. */
  public static final int DIRECTORY = 0x4000;

  /** The type of a symbolic link. */
  public static final int SYMLINK = 0xa000;

  /** Returns the type alone. */
  public int type() {
    return mode & TYPE_MASK;
  }

  /** Tells whether this is a regular file. */
  public boolean isRegular() {
    return type() == REGULAR;
  }

  /** Tells whether this is a directory. */
  public boolean isDirectory() {
    return type() == DIRECTORY;
  }

  /** Tells whether this is a symbolic link. */
  public boolean isSymlink() {
    return type() == SYMLINK;
  }

  /**
   * Tells whether these are the others, but for the time of the last access. That changes when
   * somebody reads at the origin itself, and nothing that is kept depends on it.
   */
  public boolean sameButForAccess(Attributes others) {
    return equals(
        new Attributes(
            others.mode,
            others.links,
            others.uid,
            others.gid,
            others.device,
            others.inode,
            others.size,
            others.blocks,
            accessed,
            others.modified,
            others.changed,
            others.etag));
  }

  /** Returns the identity of the content. */
  public Version version() {
    return new Version(size, modified, inode, etag);
  }
}
