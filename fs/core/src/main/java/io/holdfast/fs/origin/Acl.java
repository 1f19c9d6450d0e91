package io.holdfast.fs.origin;

import org.jspecify.annotations.Nullable;

/**
 * An entry's access control list in 16 bits, as in {@link Attributes#acl()}. Stateless.
 *
 * <pre>
 *   bits 0 to 8    the strict reading: permission bits that give no user more than the list does
 *   bit 12         {@link #POSIX}: a list that the kernel can enforce
 *   bit 13         {@link #FOREIGN}: rights that only their strict reading can represent
 *   bit 14         {@link #UNSETTLED}: the store is to be asked again
 * </pre>
 *
 * <p>0 stands for an entry without rights beyond its mode.
 */
public final class Acl {
  /** The mode is the whole truth, or only the owner has any rights. */
  public static final int NONE = 0;

  private static final int POSIX = 1 << 12;
  private static final int FOREIGN = 1 << 13;

  /**
   * The entry had changed so shortly before the list was read that its next change may have the
   * same time, or the store did not answer.
   */
  private static final int UNSETTLED = 1 << 14;

  private static final int PERMISSIONS = 0777;
  private static final int GROUP = 070;
  private static final int OTHERS = 077;

  /** The kernel takes the owner's rights from the mode, not from the list. */
  private static final int OWNER = 0700;

  private Acl() {}

  /**
   * Returns the bits of a POSIX ACL.
   *
   * @param strict permission bits that give no user more than the list does
   */
  public static int posix(int strict) {
    return POSIX | (strict & PERMISSIONS);
  }

  /** Returns the bits of other rights than a POSIX ACL; {@code strict} as for {@link #posix}. */
  public static int foreign(int strict) {
    return FOREIGN | (strict & PERMISSIONS);
  }

  /** Returns the same list, marked to be read again at the next look. */
  public static int unsettled(int acl) {
    return acl | UNSETTLED;
  }

  /** Tells whether two lists give the same rights. */
  public static boolean sameRights(int one, int other) {
    return (one & ~UNSETTLED) == (other & ~UNSETTLED);
  }

  /** Tells whether an entry has a list that the kernel can enforce. */
  public static boolean isPosix(int acl) {
    return (acl & POSIX) != 0;
  }

  /** Tells whether an entry has rights beyond its mode. */
  public static boolean isAny(int acl) {
    return (acl & (POSIX | FOREIGN)) != 0;
  }

  /**
   * Tells whether an entry may have rights beyond its mode. A symlink has none. If the mode gives
   * rights to the owner only, a list cannot give rights to other users.
   */
  public static boolean mayBe(Attributes stat) {
    return !stat.isSymlink() && (stat.mode() & OTHERS) != 0;
  }

  /** Tells whether the kernel reads the list before it decides by the mode. */
  public static boolean isAskedFor(int mode) {
    return (mode & GROUP) != 0;
  }

  /**
   * Returns the attributes with the list that was known before, if the entry has not changed since:
   * a change of the list changes the entry's change time.
   *
   * @param before the known attributes of the entry, or null
   * @return null where the store must be asked
   */
  public static @Nullable Attributes carriedOver(@Nullable Attributes before, Attributes stat) {
    boolean same =
        before != null
            && (before.acl() & UNSETTLED) == 0
            && before.changed() == stat.changed()
            && before.inode() == stat.inode()
            && before.generation() == stat.generation()
            && before.mode() == stat.mode();
    return same ? stat.withAcl(before.acl()) : null;
  }

  /** Returns the stricter combination of two lists of one entry. */
  public static int stricter(int one, int other) {
    int unsettled = (one | other) & UNSETTLED;
    if (!isAny(one) || !isAny(other)) {
      return unsettled | (isAny(one) ? one : other);
    }
    int kind = (one | other) & FOREIGN;
    return unsettled | (kind == 0 ? POSIX : kind) | (one & other & PERMISSIONS);
  }

  /** Returns a mode that gives no user more than mode and list together. */
  public static int strictMode(Attributes attributes) {
    int mode = attributes.mode();
    int acl = attributes.acl();
    return isAny(acl) ? mode & (~PERMISSIONS | (acl & PERMISSIONS)) : mode;
  }

  /** Returns permission bits that leave the owner's rights and take all others away. */
  public static int ownerAlone() {
    return OWNER;
  }
}
