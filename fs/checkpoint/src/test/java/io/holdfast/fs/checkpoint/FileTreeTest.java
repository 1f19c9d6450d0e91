package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.Procfs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import jnr.constants.platform.Errno;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Attacks of somebody who may write to a directory of the store, and files of a squashed root. */
class FileTreeTest {
  private static final int OF_NOBODY = 65534;
  private static final int OF_ANOTHER = 1234;

  @TempDir private Path directory;

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  @Test
  void make_givesWhatItMakesAway() throws IOException {
    int own = Procfs.ownUid();
    int other = own == 0 ? OF_NOBODY : own;
    int group = own == 0 ? OF_NOBODY : Procfs.ownGid();
    try (FileTree tree = FileTree.open(directory)) {
      tree.make("file", Stat.REGULAR | 0640, 0, other, group, "");
      tree.make("directory", Stat.DIRECTORY | 01750, 0, other, group, "");
      tree.make("link", Stat.SYMLINK | 0777, 0, other, group, "nowhere");
      for (String each : new String[] {"file", "directory", "link"}) {
        assertThat(tree.stat(each).uid()).as(each).isEqualTo(other);
        assertThat(tree.stat(each).gid()).as(each).isEqualTo(group);
      }
      assertThat(tree.stat("file").mode()).isEqualTo(Stat.REGULAR | 0640);
      assertThat(tree.stat("directory").mode()).isEqualTo(Stat.DIRECTORY | 01750);
    }
  }

  /** A user moves another one's file to the name of a file that is just being made. */
  @Test
  void fileOfAThirdUser_inPlaceOfANewOne_staysAsItIs() throws IOException {
    assumeTrue(Procfs.ownUid() == 0, "only root gives files away");
    Path secret = Files.writeString(directory.resolve("name"), "secret");
    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
    Files.setAttribute(secret, "unix:uid", OF_ANOTHER);
    try (FileTree tree = FileTree.open(directory)) {
      assertThatThrownBy(() -> tree.giveAway("name", Stat.REGULAR | 0644, OF_NOBODY, OF_NOBODY))
          .isInstanceOf(ErrnoException.class)
          .hasMessageContaining("somebody else has put another file in the place of a new one");
      assertThat(tree.stat("name").uid()).isEqualTo(OF_ANOTHER);
      assertThat(mode(secret)).isEqualTo("rw-------");
    }
  }

  /** root's own files have other names besides: the new one has none. */
  @Test
  void otherNameOfAFile_inPlaceOfANewOne_isNotGivenAway() throws IOException {
    Path secret = Files.writeString(directory.resolve("secret"), "secret");
    Files.createLink(directory.resolve("name"), secret);
    int uid = Procfs.ownUid();
    try (FileTree tree = FileTree.openStore(directory)) {
      assertThatThrownBy(() -> tree.giveAway("name", Stat.REGULAR | 0644, uid, -1))
          .isInstanceOf(ErrnoException.class);
      assertThatThrownBy(() -> tree.giveAway("name", Stat.DIRECTORY | 0755, uid, -1))
          .isInstanceOf(ErrnoException.class);
    }
  }

  /** The number of a system call. */
  private static final long SETFSUID = System.getProperty("os.arch").equals("aarch64") ? 151 : 122;

  /**
   * A server of NFS with root_squash takes root for another user, as the kernel does here for a
   * thread. A file that its owner may not write stopped the persister for ever.
   */
  @ParameterizedTest
  @ValueSource(ints = {0644, 0444, 0400, 0200, 0})
  void fileOfASquashedRoot_thatLacksItsOwnersRights_isChanged_andKeepsItsMode(int mode)
      throws IOException {
    assumeTrue(Procfs.ownUid() == 0, "only root can be taken for another user");
    Files.setAttribute(directory, "unix:uid", OF_NOBODY);
    long memory = LIBC.malloc(8);
    Memory.clear(memory, 8);
    try (FileTree tree = FileTree.openStore(directory)) {
      LIBC.syscall(SETFSUID, OF_NOBODY, 0, 0, 0);
      try {
        tree.make("file", Stat.REGULAR | mode, 0, 0, 0, "");
        tree.sync("file");
        int fd = tree.openRegular("file", FileTree.O_RDWR);
        assertThat(FileTree.write(fd, memory, 8, 0)).isEqualTo(8);
        LIBC.close(fd);
        tree.resize("file", 4);
        tree.allocate("file", 0, 0, 6);
        tree.sync("file");
        LIBC.close(tree.openRegular("file", 0));
        tree.setXattr("file", "user.x", new byte[] {'x'}, 0);
        assertThat(tree.xattrNames("file")).contains("user.x");
        assertThat(tree.xattr("file", "user.x")).containsExactly('x');
        tree.removeXattr("file", "user.x");
        assertThat(tree.xattrNames("file")).doesNotContain("user.x");
      } finally {
        LIBC.syscall(SETFSUID, 0, 0, 0, 0);
        LIBC.free(memory);
      }
      assertThat(tree.stat("file").uid()).isEqualTo(OF_NOBODY);
      assertThat(tree.stat("file").mode()).isEqualTo(Stat.REGULAR | mode);
    }
    assertThat(directory.resolve("file")).hasBinaryContent(new byte[6]);
  }

  /** A checkpoint that was made read-only, and then removed by root, stopped the persister. */
  @ParameterizedTest
  @ValueSource(ints = {0700, 0555, 0311, 0111})
  void directoryOfASquashedRoot_thatLacksItsOwnersRights_changes_andKeepsItsMode(int mode)
      throws IOException {
    assumeTrue(Procfs.ownUid() == 0, "only root can be taken for another user");
    Files.setAttribute(directory, "unix:uid", OF_NOBODY);
    try (FileTree tree = FileTree.openStore(directory)) {
      LIBC.syscall(SETFSUID, OF_NOBODY, 0, 0, 0);
      try {
        tree.make("from", Stat.DIRECTORY | mode, 0, 0, 0, "");
        tree.make("to", Stat.DIRECTORY | mode, 0, 0, 0, "");
        tree.make("from/a", Stat.REGULAR | 0600, 0, 0, 0, "");
        tree.rename("from/a", "to/a", 0);
        tree.link("to/a", "from/b");
        tree.remove("to/a", false);
        tree.sync("from");
        assertThat(tree.list("from")).extracting(FileTree.Entry::name).containsExactly("b");
        assertThat(tree.isEmpty("to")).isTrue();
        tree.setXattr("from/b", "user.x", new byte[] {'x'}, 0);
        tree.rename("from", "to/from", 0);
        assertThat(tree.stat("to/from/b").links()).isEqualTo(1);
        assertThat(tree.find("to/a")).isEmpty();
      } finally {
        LIBC.syscall(SETFSUID, 0, 0, 0, 0);
      }
      for (String each : new String[] {"to/from", "to"}) {
        assertThat(tree.stat(each).mode()).isEqualTo(Stat.DIRECTORY | mode);
      }
    }
  }

  /** The next mount compares all directories of the store with the front. */
  @Test
  void directoryOfASquashedRoot_thatItsOwnerMayNotEnter_isListed() throws IOException {
    assumeTrue(Procfs.ownUid() == 0, "only root can be taken for another user");
    Files.setAttribute(directory, "unix:uid", OF_NOBODY);
    try (FileTree tree = FileTree.openStore(directory)) {
      LIBC.syscall(SETFSUID, OF_NOBODY, 0, 0, 0);
      try {
        tree.make("d", Stat.DIRECTORY | 0700, 0, 0, 0, "");
        tree.make("d/a", Stat.REGULAR | 0600, 0, 0, 0, "");
        tree.chmod("d", 0);
        assertThat(tree.list("d")).extracting(FileTree.Entry::name).containsExactly("a");
        tree.setXattr("d/a", "user.x", new byte[] {'x'}, 0);
        assertThat(tree.xattrNames("d/a")).contains("user.x");
        assertThat(tree.stat("d").mode()).isEqualTo(Stat.DIRECTORY);
      } finally {
        LIBC.syscall(SETFSUID, 0, 0, 0, 0);
      }
    }
  }

  /** Others than the owner may not change the mode: the message said that, and not what failed. */
  @Test
  void fileOfAnother_thatASquashedRootMayNotOpen_failsAsTheCallDid() throws IOException {
    assumeTrue(Procfs.ownUid() == 0, "only root can be taken for another user");
    Files.setAttribute(directory, "unix:uid", OF_NOBODY);
    try (FileTree tree = FileTree.openStore(directory)) {
      tree.make("d", Stat.DIRECTORY | 0700, 0, OF_ANOTHER, 0, "");
      LIBC.syscall(SETFSUID, OF_NOBODY, 0, 0, 0);
      try {
        assertThatThrownBy(() -> tree.list("d"))
            .matches(e -> ((ErrnoException) e).is(Errno.EACCES))
            .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
        assertThat(tree.find("d")).isPresent();
      } finally {
        LIBC.syscall(SETFSUID, 0, 0, 0, 0);
      }
    }
  }

  @Test
  void symlink_isNeverFollowed() throws IOException {
    Path secret = Files.writeString(directory.resolve("secret"), "secret");
    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
    Files.createDirectory(directory.resolve("tree"));
    Files.createSymbolicLink(directory.resolve("tree/link"), secret);
    Files.createSymbolicLink(directory.resolve("tree/up"), directory);
    try (FileTree tree = FileTree.open(directory.resolve("tree"))) {
      assertThatThrownBy(() -> tree.chmod("link", 0777)).isInstanceOf(ErrnoException.class);
      assertThatThrownBy(() -> tree.resize("link", 0)).isInstanceOf(ErrnoException.class);
      assertThatThrownBy(() -> tree.open("up/secret", 0)).isInstanceOf(ErrnoException.class);
      assertThatThrownBy(() -> tree.chmod("up/secret", 0777)).isInstanceOf(ErrnoException.class);
      assertThatThrownBy(() -> tree.remove("../secret", false)).isInstanceOf(ErrnoException.class);
    }
    assertThat(mode(secret)).isEqualTo("rw-------");
    assertThat(secret).hasContent("secret");
  }
}
