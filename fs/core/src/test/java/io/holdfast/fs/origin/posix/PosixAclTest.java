package io.holdfast.fs.origin.posix;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.origin.Acl;
import io.holdfast.fs.origin.Attributes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The strict reading of an ACL beside what the kernel gives by it. */
final class PosixAclTest {
  static final int OWNER = 1;
  static final int USER = 2;
  static final int GROUP_OF_OWNER = 4;
  static final int GROUP = 8;
  static final int MASK = 0x10;
  static final int OTHERS = 0x20;

  private static final int ROUNDS = 1_000;
  private static final int IDS = 4;
  private static final int OWNING_USER = 0;
  private static final int OWNING_GROUP = 0;

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  private record Entry(int tag, int rights, int id) {}

  /** A list as the kernel has it, in the order that it keeps. */
  private record Acls(List<Entry> entries) {
    byte[] bytes() {
      ByteBuffer value =
          ByteBuffer.allocate(4 + 8 * entries.size()).order(ByteOrder.LITTLE_ENDIAN).putInt(2);
      for (Entry entry : entries) {
        value.putShort((short) entry.tag).putShort((short) entry.rights).putInt(entry.id);
      }
      return value.array();
    }

    int rights(int tag, int otherwise) {
      return entries.stream()
          .filter(e -> e.tag == tag)
          .mapToInt(Entry::rights)
          .findFirst()
          .orElse(otherwise);
    }

    boolean isExtended() {
      return entries.stream().anyMatch(e -> e.tag == USER || e.tag == GROUP);
    }

    /** Returns the mode; stat shows the mask as the group's rights. */
    int mode() {
      int group = rights(MASK, rights(GROUP_OF_OWNER, 0));
      return rights(OWNER, 0) << 6 | group << 3 | rights(OTHERS, 0);
    }
  }

  /** Decides like acl_permission_check and posix_acl_permission. */
  private static boolean kernelAllows(Acls acl, int user, Set<Integer> groups, int want) {
    if (user == OWNING_USER) {
      return allows(acl.rights(OWNER, 0), want);
    }
    if ((acl.mode() & 070) == 0) {
      return modeAllows(acl.mode(), user, groups, want);
    }
    int mask = acl.rights(MASK, 7);
    boolean found = false;
    for (Entry entry : acl.entries) {
      boolean isUser = entry.tag == USER && entry.id == user;
      boolean isGroup =
          (entry.tag == GROUP_OF_OWNER && groups.contains(OWNING_GROUP))
              || (entry.tag == GROUP && groups.contains(entry.id));
      if (isUser) {
        return allows(entry.rights & mask, want);
      }
      if (isGroup) {
        found = true;
        if (allows(entry.rights, want)) {
          return allows(entry.rights & mask, want);
        }
      }
    }
    return !found && allows(acl.rights(OTHERS, 0), want);
  }

  private static boolean modeAllows(int mode, int user, Set<Integer> groups, int want) {
    int shift = user == OWNING_USER ? 6 : groups.contains(OWNING_GROUP) ? 3 : 0;
    return allows(mode >> shift & 7, want);
  }

  private static boolean allows(int rights, int want) {
    return (want & ~rights) == 0;
  }

  private Acls randomAcl() {
    List<Entry> entries = new ArrayList<>();
    entries.add(new Entry(OWNER, random.nextInt(8), -1));
    int users = random.nextInt(3);
    int groups = random.nextInt(3);
    for (int i = 0; i < users; i++) {
      entries.add(new Entry(USER, random.nextInt(8), 1 + i));
    }
    entries.add(new Entry(GROUP_OF_OWNER, random.nextInt(8), -1));
    for (int i = 0; i < groups; i++) {
      entries.add(new Entry(GROUP, random.nextInt(8), 1 + i));
    }
    if (users + groups > 0 || random.nextBoolean()) {
      entries.add(new Entry(MASK, random.nextInt(8), -1));
    }
    entries.add(new Entry(OTHERS, random.nextInt(8), -1));
    return new Acls(entries);
  }

  static Attributes stat(int mode) {
    return new Attributes(
        Attributes.REGULAR | mode, 1, OWNING_USER, OWNING_GROUP, 0, 7, 0, 0, 0, 0, 0, "");
  }

  private static int shown(Attributes stat, int acl) {
    return Acl.strictMode(stat.withAcl(acl)) & 0777;
  }

  @Test
  void strictReading_ofAnyAcl_givesNobodyMoreThanTheKernelDoes() {
    for (int round = 0; round < ROUNDS; round++) {
      Acls acl = randomAcl();
      Attributes stat = stat(acl.mode());
      int shown = shown(stat, PosixAcl.of(acl.bytes(), stat));
      for (int user = 0; user < IDS; user++) {
        for (int member = 0; member < 1 << IDS; member++) {
          Set<Integer> groups = groups(member);
          for (int want = 1; want < 8; want++) {
            boolean origin = kernelAllows(acl, user, groups, want);
            boolean mount = modeAllows(shown, user, groups, want);
            boolean exact = user == OWNING_USER || (!acl.isExtended() && (acl.mode() & 070) != 0);
            if (exact ? mount != origin : mount && !origin) {
              throw new AssertionError(
                  "seed %d: %s shown as %o, user %d of %s"
                      .formatted(seed, acl, shown, user, groups));
            }
          }
        }
      }
    }
  }

  private static Set<Integer> groups(int bits) {
    Set<Integer> groups = new java.util.HashSet<>();
    for (int i = 0; i < IDS; i++) {
      if ((bits >> i & 1) != 0) {
        groups.add(i);
      }
    }
    return groups;
  }

  @Test
  void acl_thatSaysWhatTheModeSays_isNone() {
    byte[] same =
        new Acls(
                List.of(
                    new Entry(OWNER, 6, -1),
                    new Entry(GROUP_OF_OWNER, 4, -1),
                    new Entry(OTHERS, 0, -1)))
            .bytes();
    assertThat(PosixAcl.of(same, stat(0640))).isEqualTo(Acl.NONE);
    assertThat(Acl.isAny(PosixAcl.of(same, stat(0660)))).isTrue();
  }

  @Test
  void acl_damaged_leavesTheOwnerAlone() {
    byte[] whole = randomAcl().bytes();
    byte[] otherVersion = whole.clone();
    otherVersion[0] = 3;
    byte[] otherTag = whole.clone();
    otherTag[4] = 0x40;
    List<byte[]> damaged =
        List.of(
            new byte[0], java.util.Arrays.copyOf(whole, whole.length - 3), otherVersion, otherTag);
    for (byte[] value : damaged) {
      assertThat(shown(stat(0777), PosixAcl.of(value, stat(0777)))).isEqualTo(0700);
    }
  }
}
