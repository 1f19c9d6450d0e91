package io.holdfast.fs.origin.posix;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.origin.Acl;
import io.holdfast.fs.origin.Attributes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import jnr.constants.platform.Errno;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The use of a store's answers, even of answers that no store here gives. */
final class StoreAclsTest {
  private static final long DEVICE = 7;

  /** Version 2; owner 6, user 1 none, group 4, mask 7, others 4. */
  private static final byte[] NOT_ONE = {
    2, 0, 0, 0, 1, 0, 6, 0, -1, -1, -1, -1, 2, 0, 0, 0, 1, 0, 0, 0, 4, 0, 4, 0, -1, -1, -1, -1,
    0x10, 0, 7, 0, -1, -1, -1, -1, 0x20, 0, 4, 0, -1, -1, -1, -1
  };

  private final InstantSource later =
      InstantSource.fixed(Instant.now().plus(Duration.ofMinutes(1)));
  private final Map<String, byte[]> values = new HashMap<>();
  private final Map<String, Errno> errors = new HashMap<>();
  private String names = "";
  private int calls;
  private Runnable whileAsked = () -> {};
  private Path file;

  private final StoreAcls.Entry entry =
      new StoreAcls.Entry() {
        @Override
        public int stat() {
          return Statx.call(Linux.AT_FDCWD, Linux.pathBytes(file.toString()));
        }

        @Override
        public long read(long name, long value, int size) {
          calls++;
          whileAsked.run();
          String asked = new String(Memory.string(name), StandardCharsets.UTF_8);
          byte[] has = values.get(asked);
          if (has == null) {
            return -errors.getOrDefault(asked, Errno.EOPNOTSUPP).intValue();
          }
          Memory.put(value, has, 0, has.length);
          return has.length;
        }

        @Override
        public long names(long list, int size) {
          byte[] all = names.getBytes(StandardCharsets.UTF_8);
          Memory.put(list, all, 0, all.length);
          return all.length;
        }
      };

  @BeforeEach
  void create(@TempDir Path temp) throws IOException {
    file = Files.createFile(temp.resolve("file"));
    mode("rw-r--r--");
  }

  private void mode(String permissions) {
    try {
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Attributes ask(StoreAcls acls) {
    assertThat(entry.stat()).isZero();
    return acls.ask(Statx.attributes(), DEVICE, entry);
  }

  private int shown() {
    return Acl.strictMode(ask(new StoreAcls(false, later))) & 0777;
  }

  @Test
  void store_withoutAnyKind_isNotAskedAgain() {
    StoreAcls acls = new StoreAcls(true, later);
    Attributes stat = ask(acls);
    assertThat(stat.acl()).isEqualTo(Acl.NONE);
    assertThat(calls).isPositive();
    assertThat(acls.mayHave(stat, DEVICE)).isFalse();
    assertThat(acls.mayHave(stat, DEVICE + 1)).as("another filesystem within").isTrue();
  }

  /** Like root on a server that takes root for nobody. */
  @Test
  void list_thatMayNotBeRead_leavesTheOwnerAlone() {
    errors.put(PosixAcl.NAME, Errno.EACCES);
    assertThat(shown()).isEqualTo(0600);
  }

  @Test
  void list_thatCouldNotBeRead_leavesTheOwnerAloneUntilItIsAskedForAgain() {
    errors.put(PosixAcl.NAME, Errno.EIO);
    Attributes stat = ask(new StoreAcls(true, later));
    assertThat(Acl.strictMode(stat) & 0777).isEqualTo(0600);
    assertThat(Acl.carriedOver(stat, stat)).isNull();
  }

  @Test
  void listOfAKindThatIsNotKnown_leavesTheOwnerAlone() {
    names = "user.x\0system.some_acl\0";
    values.put("system.some_acl", new byte[] {1});
    assertThat(shown()).isEqualTo(0600);
  }

  @Test
  void listOfNfs_withADenial_isReadStrictly() {
    byte[] who = "EVERYONE@".getBytes(StandardCharsets.UTF_8);
    byte[] bob = "bob@".getBytes(StandardCharsets.UTF_8);
    values.put(
        Nfs4Acl.NAME,
        ByteBuffer.allocate(4 + 20 + 28)
            .putInt(2)
            .putInt(1)
            .putInt(0)
            .putInt(1)
            .putInt(bob.length)
            .put(bob)
            .putInt(0)
            .putInt(0)
            .putInt(1)
            .putInt(who.length)
            .put(who)
            .array());
    assertThat(shown()).isEqualTo(0200);
  }

  @Test
  void twoKinds_ofOneEntry_theStricterOneHolds() {
    values.put(PosixAcl.NAME, NOT_ONE);
    names = "system.some_acl\0";
    values.put("system.some_acl", new byte[] {1});
    Attributes stat = ask(new StoreAcls(true, later));
    assertThat(Acl.isPosix(stat.acl())).isFalse();
    assertThat(Acl.strictMode(stat) & 0777).isEqualTo(0600);
  }

  /** This machine's kernel decides by the mode then; a server may do otherwise. */
  @Test
  void list_whoseMaskIsEmpty_countsWhereTheStoreDecides() {
    values.put(PosixAcl.NAME, NOT_ONE);
    mode("rw----r--");
    assertThat(ask(new StoreAcls(true, later)).acl()).isEqualTo(Acl.NONE);
    assertThat(shown()).isEqualTo(0600);
  }

  /** With the mode from before, in which the group has the mask, and no list any more. */
  @Test
  void list_takenAwayWhileItIsAskedFor_isNotSeenWithTheOldMode() {
    errors.put(PosixAcl.NAME, Errno.ENODATA);
    mode("rw-rwxr--");
    whileAsked =
        () -> {
          whileAsked = () -> {};
          mode("rw----r--");
        };
    assertThat(shown()).isEqualTo(0604);
  }

  /** A directory in which users make names all the time: nobody but its owner could pass it. */
  @Test
  void entry_thatChangesAtEachLook_keepsItsRights() {
    errors.put(PosixAcl.NAME, Errno.ENODATA);
    whileAsked = this::changeTime;
    assertThat(shown()).isEqualTo(0644);
  }

  @Test
  void modes_thatChangeAtEachLook_leaveTheOwnerAlone() {
    errors.put(PosixAcl.NAME, Errno.ENODATA);
    whileAsked =
        () -> {
          mode(calls % 2 == 0 ? "rw-r--r--" : "rw-rw-r--");
          changeTime();
        };
    assertThat(shown()).isEqualTo(0600);
  }

  @Test
  void lists_thatChangeAtEachLook_leaveTheOwnerAlone() {
    mode("rw-rwxr--");
    errors.put(PosixAcl.NAME, Errno.ENODATA);
    whileAsked =
        () -> {
          if (values.remove(PosixAcl.NAME) == null) {
            values.put(PosixAcl.NAME, NOT_ONE);
          }
          changeTime();
        };
    assertThat(shown()).isEqualTo(0600);
  }

  /** Gives the file another change time, which may take a tick of the kernel's clock. */
  private void changeTime() {
    try {
      FileTime before = (FileTime) Files.getAttribute(file, "unix:ctime");
      while (before.equals(Files.getAttribute(file, "unix:ctime"))) {
        Files.setLastModifiedTime(file, FileTime.from(Instant.now()));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
