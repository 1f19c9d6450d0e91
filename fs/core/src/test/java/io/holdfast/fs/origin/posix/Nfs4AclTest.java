package io.holdfast.fs.origin.posix;

import static io.holdfast.fs.origin.posix.PosixAclTest.stat;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.origin.Acl;
import io.holdfast.fs.origin.Attributes;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The strict reading of an ACL of NFSv4 beside what a server gives by it. */
final class Nfs4AclTest {
  private static final int ROUNDS = 20_000;
  private static final int INHERIT_ONLY = 8;
  private static final List<String> SPECIAL = List.of("OWNER@", "GROUP@", "EVERYONE@");
  private static final List<String> NAMES = List.of("OWNER@", "GROUP@", "EVERYONE@", "u1", "g1");

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  /** Rights as in a mode; read and execute only. */
  private record Entry(int type, int flags, int rights, String who) {}

  /** A user, by all that an entry may mean. */
  private record User(Set<String> is) {}

  private static byte[] bytes(List<Entry> entries) {
    ByteBuffer value = ByteBuffer.allocate(4096).putInt(entries.size());
    for (Entry entry : entries) {
      int mask = ((entry.rights & 4) != 0 ? 1 : 0) | ((entry.rights & 1) != 0 ? 0x20 : 0);
      byte[] who = entry.who.getBytes(StandardCharsets.UTF_8);
      value.putInt(entry.type).putInt(entry.flags).putInt(mask).putInt(who.length).put(who);
      value.put(new byte[-who.length & 3]);
    }
    return Arrays.copyOf(value.array(), value.position());
  }

  /** RFC 7530, 6.2.1. */
  private static int serverGives(List<Entry> entries, User user) {
    int given = 0;
    int decided = 0;
    for (Entry entry : entries) {
      boolean about = entry.who.equals("EVERYONE@") || user.is.contains(entry.who);
      if (about && (entry.flags & INHERIT_ONLY) == 0 && entry.type <= 1) {
        given |= entry.type == 0 ? entry.rights & ~decided : 0;
        decided |= entry.rights;
      }
    }
    return given;
  }

  private static int modeGives(int mode, User user) {
    int shift = user.is.contains("OWNER@") ? 6 : user.is.contains("GROUP@") ? 3 : 0;
    return mode >> shift & 5;
  }

  private Entry randomEntry(List<String> names) {
    int flags = random.nextInt(8) == 0 ? INHERIT_ONLY : 0;
    int rights = List.of(1, 4, 5).get(random.nextInt(3));
    return new Entry(random.nextInt(3), flags, rights, names.get(random.nextInt(names.size())));
  }

  private static List<User> users() {
    List<User> users = new ArrayList<>();
    for (int bits = 0; bits < 16; bits++) {
      List<String> is = new ArrayList<>();
      List<String> all = List.of("OWNER@", "GROUP@", "u1", "g1");
      for (int i = 0; i < all.size(); i++) {
        if ((bits >> i & 1) != 0) {
          is.add(all.get(i));
        }
      }
      users.add(new User(Set.copyOf(is)));
    }
    return users;
  }

  private static int shown(int mode, byte[] value) {
    Attributes stat = stat(mode);
    return Acl.strictMode(stat.withAcl(Nfs4Acl.of(value, stat))) & 0777;
  }

  @Test
  void strictReading_ofAnyAcl_givesNobodyMoreThanTheServerDoes() {
    for (int round = 0; round < ROUNDS; round++) {
      List<Entry> entries = new ArrayList<>();
      for (int i = random.nextInt(6); i >= 0; i--) {
        entries.add(randomEntry(NAMES));
      }
      int shown = shown(0777, bytes(entries));
      for (User user : users()) {
        assertThat(modeGives(shown, user) & ~serverGives(entries, user))
            .as("seed %d: %s shown as %o to %s", seed, entries, shown, user)
            .isZero();
      }
    }
  }

  /** The list that a server without lists returns for each file. */
  @Test
  void acl_thatIsTheMode_isNone() {
    for (int mode = 0; mode < 01000; mode++) {
      List<Entry> entries = new ArrayList<>();
      for (int i = 0; i < SPECIAL.size(); i++) {
        int rights = mode >> (6 - 3 * i) & 5;
        entries.add(new Entry(0, 0, rights, SPECIAL.get(i)));
        entries.add(new Entry(1, 0, 5 & ~rights, SPECIAL.get(i)));
      }
      assertThat(Nfs4Acl.of(bytes(entries), stat(mode))).as("%o", mode).isEqualTo(Acl.NONE);
    }
  }

  @Test
  void acl_thatOnlyAddsRights_leavesTheModeAsItIs() {
    List<Entry> entries =
        List.of(
            new Entry(0, 0, 5, "u1"),
            new Entry(0, 0, 4, "OWNER@"),
            new Entry(0, 0, 4, "GROUP@"),
            new Entry(0, 0, 0, "EVERYONE@"));
    assertThat(shown(0640, bytes(entries))).isEqualTo(0640);
  }

  @Test
  void acl_damaged_leavesTheOwnerAlone() {
    byte[] whole = bytes(List.of(new Entry(0, 0, 5, "EVERYONE@")));
    byte[] longName = whole.clone();
    longName[16] = 127;
    for (byte[] value : List.of(new byte[0], Arrays.copyOf(whole, whole.length - 5), longName)) {
      assertThat(shown(0777, value)).isEqualTo(0700);
    }
  }
}
