package io.holdfast.fs.origin;

import org.jspecify.annotations.Nullable;

/**
 * What is to be known of an entry's access control list, in 16 bits, as {@link Attributes#acl()}
 * has it. Stateless.
 *
 * <pre>
 *   bits 0 to 8    the strict reading: permission bits that give nobody more than the list does
 *   bit 12         {@link #POSIX}: a list that the kernel can enforce
 *   bit 13         {@link #FOREIGN}: rights that only their strict reading can stand for
 *   bit 14         {@link #UNSETTLED}: to be asked for again
 * </pre>
 *
 * <p>0 is for an entry whose mode says all.
 */
public final class Acl {
  /** The mode says all, or nobody but the owner has any right. */
  public static final int NONE = 0;

  private static final int POSIX = 1 << 12;
  private static final int FOREIGN = 1 << 13;

  /**
   * The entry had changed so shortly before the list was asked for that the next change of it may
   * have the same time, or the store did not answer.
   */
  private static final int UNSETTLED = 1 << 14;

  private static final int PERMISSIONS = 0777;
  private static final int GROUP = 070;
  private static final int OTHERS = 077;

  /** What the kernel needs to know of the entry does not come from its list. */
  private static final int OWNER = 0700;

  private Acl() {}

  /**
   * Names a POSIX ACL.
   *
   * @param strict permission bits that give nobody more than it does
   */
  public static int posix(int strict) {
    return POSIX | (strict & PERMISSIONS);
  }

  /** Names rights of another kind, likewise. */
  public static int foreign(int strict) {
    return FOREIGN | (strict & PERMISSIONS);
  }

  /** Returns the same, to be asked for again at the next look. */
  public static int unsettled(int acl) {
    return acl | UNSETTLED;
  }

  /** Tells whether the two say the same of an entry's rights. */
  public static boolean sameRights(int one, int other) {
    return (one & ~UNSETTLED) == (other & ~UNSETTLED);
  }

  /** Tells whether an entry has a list that the kernel can enforce. */
  public static boolean isPosix(int acl) {
    return (acl & POSIX) != 0;
  }

  /** Tells whether an entry has rights that its mode does not tell. */
  public static boolean isAny(int acl) {
    return (acl & (POSIX | FOREIGN)) != 0;
  }

  /**
   * Tells whether an entry's rights may be others than its mode tells. Symbolic links have none,
   * and of an entry that only its owner has rights to, a list can give others none.
   */
  public static boolean mayBe(Attributes stat) {
    return !stat.isSymlink() && (stat.mode() & OTHERS) != 0;
  }

  /** Tells whether the kernel asks for a list before it decides by the mode. */
  public static boolean isAskedFor(int mode) {
    return (mode & GROUP) != 0;
  }

  /**
   * Returns attributes with what was known of their list before, where nothing has happened to the
   * entry since: a change of its list changes its time of change.
   *
   * @param before what was known of the entry, or null
   * @return null where the store is to be asked
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

  /** Returns what holds of an entry of which both are known. */
  public static int stricter(int one, int other) {
    int unsettled = (one | other) & UNSETTLED;
    if (!isAny(one) || !isAny(other)) {
      return unsettled | (isAny(one) ? one : other);
    }
    int kind = (one | other) & FOREIGN;
    return unsettled | (kind == 0 ? POSIX : kind) | (one & other & PERMISSIONS);
  }

  /** Returns the mode by which nobody gets more than by mode and list. */
  public static int strictMode(Attributes attributes) {
    int mode = attributes.mode();
    int acl = attributes.acl();
    return isAny(acl) ? mode & (~PERMISSIONS | (acl & PERMISSIONS)) : mode;
  }

  /** Returns permission bits that leave the owner's as they are, and give nobody else any. */
  public static int ownerAlone() {
    return OWNER;
  }
}
