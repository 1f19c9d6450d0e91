package io.holdfast.fs.origin.posix;

import io.holdfast.fs.origin.Acl;
import io.holdfast.fs.origin.Attributes;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The value of {@code system.nfs4_acl}, in the XDR of RFC 7530, big-endian:
 *
 * <pre>
 *   0 entries u32      then for each: type u32, flags u32, rights u32, who: length u32, bytes, padded to 4
 * </pre>
 *
 * <p>A server goes through the entries in order. The first entry about a user and a right decides
 * on this right; a right without an entry is not given. The strict reading goes through the entries
 * as a member of the owning group and as any other user would. It ignores rights that an entry
 * gives to a named user or group, and takes rights that an entry denies to a named one from
 * everybody. Stateless.
 */
final class Nfs4Acl {
  static final String NAME = "system.nfs4_acl";

  private static final int ALLOW = 0;
  private static final int DENY = 1;

  /**
   * The entry is inherited by new entries of a directory, and does not apply to the directory
   * itself.
   */
  private static final int INHERIT_ONLY = 0x08;

  private static final int READ = 0x01;
  private static final int WRITE = 0x02;
  private static final int EXECUTE = 0x20;

  private static final int ALL = 7;
  private static final int WRITES = 0222;
  private static final int MOST_NAME = 1 << 16;

  /** The decisions so far for one class of users. */
  private static final class Reading {
    private int given;
    private int decided;

    void take(boolean allow, int rights) {
      given |= allow ? rights & ~decided : 0;
      decided |= rights;
    }
  }

  private Nfs4Acl() {}

  /** Returns the bits of a list, as in {@link Acl}. */
  static int of(byte[] value, Attributes stat) {
    try {
      int strict = strict(ByteBuffer.wrap(value));
      // stores differ in which right this is, and the dataset is never written
      int mode = stat.mode() & 0777;
      boolean modeSaysAll = (mode & ~WRITES & ~strict) == 0;
      return modeSaysAll ? Acl.NONE : Acl.foreign(mode & (strict | WRITES));
    } catch (BufferUnderflowException | IllegalArgumentException e) {
      return Acl.foreign(Acl.ownerAlone());
    }
  }

  private static int strict(ByteBuffer list) {
    Reading owner = new Reading();
    Reading ownerInGroup = new Reading();
    Reading group = new Reading();
    Reading others = new Reading();
    int denied = 0;
    for (int left = list.getInt(); left > 0; left--) {
      int type = list.getInt();
      int flags = list.getInt();
      int rights = rights(list.getInt());
      String who = name(list);
      boolean allow = type == ALLOW;
      if ((flags & INHERIT_ONLY) != 0 || (!allow && type != DENY)) {
        continue;
      }
      boolean everyone = who.equals("EVERYONE@");
      boolean named = !everyone && !who.equals("OWNER@") && !who.equals("GROUP@");
      if (named) {
        denied |= allow ? 0 : rights;
        continue;
      }
      if (everyone || who.equals("OWNER@")) {
        owner.take(allow, rights);
      }
      ownerInGroup.take(allow, rights);
      if (everyone || who.equals("GROUP@")) {
        group.take(allow, rights);
      }
      if (everyone) {
        others.take(allow, rights);
      }
    }
    int rest = ALL & ~denied;
    return (owner.given & ownerInGroup.given & rest) << 6
        | (group.given & rest) << 3
        | (others.given & rest);
  }

  private static int rights(int mask) {
    return ((mask & READ) != 0 ? 4 : 0)
        | ((mask & WRITE) != 0 ? 2 : 0)
        | ((mask & EXECUTE) != 0 ? 1 : 0);
  }

  private static String name(ByteBuffer list) {
    int length = list.getInt();
    if (length < 0 || length > MOST_NAME) {
      throw new IllegalArgumentException("a name of " + length + " bytes");
    }
    byte[] name = new byte[length];
    list.get(name);
    list.position(Math.min(list.limit(), list.position() + (-length & 3)));
    return new String(name, StandardCharsets.UTF_8);
  }
}
