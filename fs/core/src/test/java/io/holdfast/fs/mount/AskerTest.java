package io.holdfast.fs.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.origin.Attributes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An asker may search a directory where the kernel lets the user search it. */
final class AskerTest {
  private static final int THREAD = 12;
  private static final int OWNER = 1000;
  private static final int USER = 1001;
  private static final int GROUP = 2000;
  private static final int OTHER_GROUP = 2001;
  private static final byte[] NO_LIST = {};

  @TempDir private Path root;

  @BeforeEach
  void begin() throws IOException {
    status("0000000000000000", OTHER_GROUP + " 4294967294");
    namespace("self", "user:[1]");
    namespace(Integer.toString(THREAD), "user:[1]");
  }

  private void namespace(String process, String name) throws IOException {
    Path link = root.resolve("proc").resolve(process).resolve("ns/user");
    Files.createDirectories(link.getParent());
    Files.deleteIfExists(link);
    Files.createSymbolicLink(link, Path.of(name));
  }

  private void status(String capabilities, String groups) throws IOException {
    Files.createDirectories(root.resolve("proc/" + THREAD));
    Files.writeString(
        root.resolve("proc/" + THREAD + "/status"),
        "Name:\tpython\nGroups:\t" + groups + " \nCapEff:\t" + capabilities + "\n");
  }

  private boolean may(int mode, int uid, int gid, byte... list) {
    Attributes directory =
        new Attributes(Attributes.DIRECTORY | mode, 1, OWNER, GROUP, 0, 1, 0, 0, 0, 0, 0, "");
    return new Asker(uid, gid, THREAD).maySearch(directory, list, new Procfs(root));
  }

  private boolean may(int mode, int uid, int gid) {
    return may(mode, uid, gid, NO_LIST);
  }

  /** Returns a list; an entry is its tag, its permissions and, of a named one, its id. */
  private static byte[] list(int[]... entries) {
    ByteBuffer list =
        ByteBuffer.allocate(4 + entries.length * 8).order(ByteOrder.LITTLE_ENDIAN).putInt(2);
    for (int[] entry : entries) {
      list.putShort((short) entry[0]).putShort((short) entry[1]);
      list.putInt(entry.length > 2 ? entry[2] : -1);
    }
    return list.array();
  }

  private static int[] owner(int permissions) {
    return new int[] {0x01, permissions};
  }

  private static int[] user(int id, int permissions) {
    return new int[] {0x02, permissions, id};
  }

  private static int[] owningGroup(int permissions) {
    return new int[] {0x04, permissions};
  }

  private static int[] group(int id, int permissions) {
    return new int[] {0x08, permissions, id};
  }

  private static int[] mask(int permissions) {
    return new int[] {0x10, permissions};
  }

  private static int[] others(int permissions) {
    return new int[] {0x20, permissions};
  }

  @Test
  void maySearch_mode_byTheFirstClassThatTheUserIsIn() {
    assertThat(may(0700, OWNER, 1)).isTrue();
    assertThat(may(0677, OWNER, GROUP)).isFalse();
    assertThat(may(0710, USER, GROUP)).isTrue();
    assertThat(may(0767, USER, GROUP)).isFalse();
    assertThat(may(0701, USER, 1)).isTrue();
    assertThat(may(0776, USER, 1)).isFalse();
  }

  @Test
  void maySearch_furtherGroups_count() throws IOException {
    assertThat(may(0710, USER, 1)).isFalse();
    status("0", "7 " + GROUP);
    assertThat(may(0710, USER, 1)).isTrue();
    status("0", "");
    assertThat(may(0710, USER, 1)).isFalse();
  }

  @Test
  void maySearch_capability_everywhere() throws IOException {
    for (String capabilities : List.of("0000000000000002", "0000000000000004")) {
      status(capabilities, "");
      assertThat(may(0, USER, 1)).isTrue();
      assertThat(may(0, 0, 0)).isTrue();
    }
    status("fffffffffffffff9", "");
    assertThat(may(0, USER, 1)).isFalse();
    assertThat(may(0, 0, 0)).as("root of a container that has no capability").isFalse();
  }

  /** Each user can make a namespace, and has all capabilities there. */
  @Test
  void maySearch_capabilityInAnotherNamespace_doesNotCount() throws IOException {
    status("ffffffffffffffff", "");
    namespace(Integer.toString(THREAD), "user:[2]");
    assertThat(may(0, USER, 1)).isFalse();
    Files.delete(root.resolve("proc/" + THREAD + "/ns/user"));
    assertThat(may(0, USER, 1)).as("nobody can tell").isFalse();
  }

  @Test
  void maySearch_threadThatNobodyKnows_isNotRefused() throws IOException {
    Files.delete(root.resolve("proc/" + THREAD + "/status"));
    assertThat(may(0, USER, 1)).isTrue();
  }

  @Test
  void maySearch_list_byItsEntries() {
    byte[] list =
        list(
            owner(7),
            user(USER, 1),
            user(1002, 4),
            owningGroup(1),
            group(OTHER_GROUP, 0),
            mask(1),
            others(1));
    assertThat(may(0710, USER, 1, list)).as("named").isTrue();
    assertThat(may(0710, 1002, GROUP, list)).as("named, whose groups do not count").isFalse();
    assertThat(may(0710, 1003, GROUP, list)).as("one of two groups has it").isTrue();
    assertThat(may(0710, 1003, 1, list)).as("no group has it, and others do not count").isFalse();
    assertThat(may(0611, OWNER, 1, list)).as("the owner by the mode").isFalse();
  }

  @Test
  void maySearch_listOfAThreadWithoutItsGroups_others() throws IOException {
    status("0", "");
    byte[] list =
        list(owner(7), user(USER, 7), owningGroup(7), group(OTHER_GROUP, 7), mask(4), others(1));
    assertThat(may(0741, 1003, 1, list)).isTrue();
    assertThat(may(0741, USER, 1, list)).as("masked").isFalse();
    assertThat(may(0741, 1003, GROUP, list)).as("masked").isFalse();
    assertThat(may(0741, 1003, OTHER_GROUP, list)).as("masked").isFalse();
  }

  @Test
  void maySearch_modeWithoutRightsOfAGroup_listIsNotAskedFor() {
    assertThat(may(0701, USER, 1, list(owner(7), user(USER, 0), owningGroup(0), others(0))))
        .isTrue();
  }

  @Test
  void maySearch_listThatEndsEarly_isRefused() {
    assertThat(may(0711, USER, 1, (byte) 2, (byte) 0, (byte) 0, (byte) 0, (byte) 1)).isFalse();
  }
}
