package io.holdfast.fs.origin.posix;

import io.holdfast.fs.origin.Acl;
import io.holdfast.fs.origin.Attributes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The value of {@code system.posix_acl_access}, little-endian; see
 * include/uapi/linux/posix_acl_xattr.h.
 *
 * <pre>
 *   0 version u32, 2      then for each entry: 0 tag u16, 2 permissions u16, 4 id u32
 * </pre>
 *
 * <p>The kernel gives a user the rights of the first class that the user is in: owner, named user,
 * owning or named group, others. The mask limits the classes between owner and others. The strict
 * reading is a mode that gives no user more than the list. By the mode, a named user, or a member
 * of a named group, has the rights of the owning group or of the others; so the strict reading
 * limits both of these to the rights of every named entry. Stateless.
 */
final class PosixAcl {
  static final String NAME = "system.posix_acl_access";

  private static final int VERSION = 2;
  private static final int ENTRY = 8;
  private static final int ALL = 7;

  private static final int OWNER = 0x01;
  private static final int NAMED_USER = 0x02;
  private static final int OWNING_GROUP = 0x04;
  private static final int NAMED_GROUP = 0x08;
  private static final int MASK = 0x10;
  private static final int OTHERS = 0x20;

  private PosixAcl() {}

  /** Returns the bits of a list, as in {@link Acl}. */
  static int of(byte[] value, Attributes stat) {
    ByteBuffer list = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
    if (list.remaining() < Integer.BYTES
        || list.getInt() != VERSION
        || list.remaining() % ENTRY != 0) {
      return Acl.foreign(Acl.ownerAlone());
    }
    int owner = ALL;
    int group = ALL;
    int others = ALL;
    int mask = ALL;
    int named = ALL;
    boolean extended = false;
    while (list.hasRemaining()) {
      int tag = list.getShort();
      int rights = list.getShort() & ALL;
      list.getInt();
      switch (tag) {
        case OWNER -> owner = rights;
        case OWNING_GROUP -> group = rights;
        case OTHERS -> others = rights;
        case MASK -> mask = rights;
        case NAMED_USER, NAMED_GROUP -> {
          named &= rights;
          extended = true;
        }
        default -> {
          return Acl.foreign(Acl.ownerAlone());
        }
      }
    }
    int limit = extended ? named & mask : ALL;
    int strict = owner << 6 | (group & mask & limit) << 3 | (others & limit);
    boolean modeSaysAll = !extended && (stat.mode() & 0777) == strict;
    return modeSaysAll ? Acl.NONE : Acl.posix(strict);
  }
}
