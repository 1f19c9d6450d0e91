package io.holdfast.fs.mount;

import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.origin.Acl;
import io.holdfast.fs.origin.Attributes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.OptionalLong;
import java.util.Set;

/**
 * A user for whom the kernel asks. Decides like the kernel who may search a directory: by the mode
 * (path_resolution(7)) and by a POSIX access control list (acl(5)). Immutable.
 *
 * @param uid the user by whom the kernel decides, of files that the caller creates
 * @param gid the group, likewise
 * @param thread the kernel's id of the calling thread; 0 if it is unknown
 */
public record Asker(int uid, int gid, int thread) {
  private static final int SEARCH = 1;
  private static final int OWNER_SHIFT = 6;
  private static final int GROUP_SHIFT = 3;

  /** CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH. */
  private static final long SEARCHES_ALL = 1 << 1 | 1 << 2;

  private static final int NAMED_USER = 0x02;
  private static final int OWNING_GROUP = 0x04;
  private static final int NAMED_GROUP = 0x08;
  private static final int MASK = 0x10;
  private static final int OTHERS = 0x20;
  private static final int ALL = 7;

  /**
   * Tells whether the user may search a directory; true also if nobody can tell, because the thread
   * has ended or is in another namespace.
   *
   * @param list the value of the directory's {@code system.posix_acl_access}; empty without one
   */
  boolean maySearch(Attributes directory, byte[] list, Procfs procfs) {
    Procfs.Fields status = procfs.status(Integer.toString(thread));
    OptionalLong capabilities = status.mask("CapEff");
    if (capabilities.isEmpty()) {
      return true;
    }
    boolean searchesAll = (capabilities.getAsLong() & SEARCHES_ALL) != 0;
    if (searchesAll && procfs.isInOwnUserNamespace(thread)) {
      return true;
    }
    int mode = directory.mode();
    if (uid == directory.uid()) {
      return (mode >> OWNER_SHIFT & SEARCH) != 0;
    }
    Set<Integer> groups = status.ids("Groups");
    if (list.length > 0 && Acl.isAskedFor(mode)) {
      return maySearch(ByteBuffer.wrap(list).order(ByteOrder.LITTLE_ENDIAN), directory, groups);
    }
    return ((isIn(directory.gid(), groups) ? mode >> GROUP_SHIFT : mode) & SEARCH) != 0;
  }

  private boolean isIn(int group, Set<Integer> groups) {
    return group == gid || groups.contains(group);
  }

  /** By the entries in their order: a version, then for each tag u16, permissions u16, id u32. */
  private boolean maySearch(ByteBuffer list, Attributes directory, Set<Integer> groups) {
    int mask = mask(list);
    boolean isInGroup = false;
    for (int at = Integer.BYTES; at + Long.BYTES <= list.limit(); at += Long.BYTES) {
      int tag = list.getShort(at);
      boolean may = (list.getShort(at + Short.BYTES) & SEARCH) != 0;
      int id = list.getInt(at + Integer.BYTES);
      if (tag == NAMED_USER && id == uid) {
        return may && (mask & SEARCH) != 0;
      }
      int group = tag == OWNING_GROUP ? directory.gid() : id;
      if ((tag == OWNING_GROUP || tag == NAMED_GROUP) && isIn(group, groups)) {
        isInGroup = true;
        if (may) {
          return (mask & SEARCH) != 0;
        }
      }
      if (tag == OTHERS) {
        return !isInGroup && may;
      }
    }
    return false;
  }

  private static int mask(ByteBuffer list) {
    for (int at = Integer.BYTES; at + Long.BYTES <= list.limit(); at += Long.BYTES) {
      if (list.getShort(at) == MASK) {
        return list.getShort(at + Short.BYTES);
      }
    }
    return ALL;
  }
}
