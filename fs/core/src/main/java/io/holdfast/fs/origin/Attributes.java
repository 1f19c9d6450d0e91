package io.holdfast.fs.origin;

/**
 * The attributes of an entry, as stat returns them. Immutable.
 *
 * @param mode type and permission bits, as in st_mode
 * @param links number of names
 * @param uid owner
 * @param gid group
 * @param device device number of a device node, in the kernel's encoding of dev_t
 * @param inode inode number at the origin; other than that where several file systems are one
 *     dataset
 * @param size bytes of content
 * @param blocks allocated units of 512 bytes
 * @param accessed time of the last access, in nanoseconds since 1970 (UTC)
 * @param modified time of the last change of the content, in nanoseconds since 1970 (UTC)
 * @param changed time of the last change of content or attributes, in nanoseconds since 1970 (UTC)
 * @param etag the store's own name for the content, without quotes; empty where there is none
 * @param generation distinguishes the inode from earlier ones with the same number; 0 where the
 *     store has no generations, or the number is above {@link #MOST_INODE_WITH_GENERATION}
 * @param acl the access control list as in {@link Acl}; 0 where there is none
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
    String etag,
    int generation,
    int acl) {
  /** Creates the attributes of an entry in a store without inode generations and ACLs. */
  public Attributes(
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
    this(
        mode, links, uid, gid, device, inode, size, blocks, accessed, modified, changed, etag, 0,
        0);
  }

  /**
   * Inodes with larger numbers have no generation here: stores with such numbers seldom reuse them.
   */
  public static final long MOST_INODE_WITH_GENERATION = 0xffff_ffffL;

  /** Checks the inode's number if there is a generation. */
  public Attributes {
    if (generation != 0 && (inode < 0 || inode > MOST_INODE_WITH_GENERATION)) {
      throw new IllegalArgumentException("inode " + inode + " with generation " + generation);
    }
  }

  // as of any record, but a few times cheaper with Java's first compiler: asked for each lookup
  @Override
  public boolean equals(Object other) {
    return other instanceof Attributes others
        && mode == others.mode
        && links == others.links
        && uid == others.uid
        && gid == others.gid
        && device == others.device
        && inode == others.inode
        && size == others.size
        && blocks == others.blocks
        && accessed == others.accessed
        && modified == others.modified
        && changed == others.changed
        && etag.equals(others.etag)
        && generation == others.generation
        && acl == others.acl;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(31 * (31 * (31 * inode + size) + modified) + changed) + mode;
  }

  /** The bits of {@link #mode()} that hold the type. */
  public static final int TYPE_MASK = 0xf000;

  /** The type of a regular file. */
  public static final int REGULAR = 0x8000;

  /** The type of a directory. */
  public static final int DIRECTORY = 0x4000;

  /** The type of a symbolic link. */
  public static final int SYMLINK = 0xa000;

  /** Returns only the type. */
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
   * Tells whether the attributes are equal except for the access time. The access time changes when
   * a program reads at the origin itself, and nothing cached depends on it. {@link Acl#unsettled}
   * does not count either.
   */
  public boolean sameButForAccess(Attributes others) {
    return Acl.sameRights(acl, others.acl)
        && equals(
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
                others.etag,
                others.generation,
                acl));
  }

  /** Returns the attributes with another access control list. */
  public Attributes withAcl(int other) {
    return acl == other ? this : with(mode, inode, other);
  }

  /** Returns the attributes with another mode. */
  public Attributes withMode(int other) {
    return mode == other ? this : with(other, inode, acl);
  }

  /** Returns the attributes with another inode number. */
  public Attributes withInode(long other) {
    return inode == other ? this : with(mode, other, acl);
  }

  private Attributes with(int otherMode, long otherInode, int otherAcl) {
    return new Attributes(
        otherMode,
        links,
        uid,
        gid,
        device,
        otherInode,
        size,
        blocks,
        accessed,
        modified,
        changed,
        etag,
        generation,
        otherAcl);
  }

  /** Tells whether both attributes give all users the same rights. */
  public boolean sameRights(Attributes others) {
    return mode == others.mode
        && uid == others.uid
        && gid == others.gid
        && Acl.sameRights(acl, others.acl);
  }

  /**
   * Tells whether both attributes are of the same entry and, for a file or link, of the same
   * content. The entries of a directory may differ.
   */
  public boolean sameEntry(Attributes others) {
    boolean hasContent = isRegular() || isSymlink();
    return type() == others.type()
        && inode == others.inode
        && generation == others.generation
        && (!hasContent || version().equals(others.version()));
  }

  /** Returns the identity of the content. */
  public Version version() {
    return new Version(size, modified, changed, inode, generation, etag);
  }
}
