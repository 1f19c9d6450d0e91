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
 * <p>The kernel gives a user the rights of the first class that he is of: owner, named user, owning
 * or named group, others; and of the classes between, no more than the mask has. Its strict reading
 * is a mode that gives nobody more. Who has an entry of his own, or of one of his groups, is by the
 * mode of the owning group or of the others; so both get no more than each of these entries gives.
 * Stateless.
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

  /** Returns what is to be known of a list, as {@link Acl} has it. */
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
