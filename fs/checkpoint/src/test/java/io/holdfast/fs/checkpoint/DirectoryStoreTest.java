package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.fs.checkpoint.daemon.OpenedFront;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import jnr.constants.platform.Errno;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Also when others, who reach the store without the mount, put something else in a file's place.
 */
@Timeout(60)
class DirectoryStoreTest extends StoreContract {
  private Path storePath;
  private Path outside;
  private DirectoryStore store;

  @Override
  Store open(String owner, Path fronts, boolean isHeld) throws IOException {
    storePath = Files.createDirectories(directory.resolve("store"));
    return new DirectoryStore(storePath, owner, isHeld);
  }

  @BeforeEach
  void beginOutside() throws Exception {
    outside = Files.writeString(directory.resolve("outside"), "secret");
    Files.setPosixFilePermissions(outside, PosixFilePermissions.fromString("rw-------"));
    store = (DirectoryStore) store();
  }

  /** Another node has taken it over meanwhile, or it is another directory. */
  @Test
  void storeThatIsHeld_andDoesNotNameTheFront_isRefused() throws Exception {
    store.release(true);

    assertThatThrownBy(() -> new DirectoryStore(storePath, "one", true))
        .hasMessageContaining(
            "is missing, and the front has changes that are not in the store yet");
    assertThat(storePath).isEmptyDirectory();
    new DirectoryStore(storePath, "one", false).close();
    new DirectoryStore(storePath, "one", true).close();
  }

  /**
   * An admin exported the store with no_root_squash, as the log advises, while a front had it: what
   * root made then was root's, and not the user's who had made the mark.
   */
  @Test
  void storeThatLeavesRootItsFiles_afterItsMarkWasMade_getsWhatIsPending() throws Exception {
    assumeTrue(me == 0, "only root gives files away");
    Files.setAttribute(storePath.resolve(Store.OWNER), "unix:uid", 65534);
    Files.writeString(storePath.resolve(FileTree.PROBE), "of a process that was killed");

    try (DirectoryStore held = new DirectoryStore(storePath, "one", true)) {
      assertThat(storePath.resolve(FileTree.PROBE)).doesNotExist();
      held.apply(new Operation.Make("a", Stat.REGULAR | 0600, 0, 1000, 1000, ""));
      held.apply(new Operation.Make("d", Stat.DIRECTORY | 0700, 0, 1000, 1000, ""));
    }

    assertThat(Files.getAttribute(storePath.resolve("a"), "unix:uid")).isEqualTo(1000);
    assertThat(Files.getAttribute(storePath.resolve("d"), "unix:uid")).isEqualTo(1000);
    assertThat(storePath.resolve(FileTree.PROBE)).doesNotExist();
  }

  /** The number of a system call. */
  private static final long SETFSUID = System.getProperty("os.arch").equals("aarch64") ? 151 : 122;

  private static final int OF_NOBODY = 65534;

  /** Uses the store as a server with root_squash lets root use it. */
  @FunctionalInterface
  private interface Use {
    void of(Path store) throws Exception;
  }

  private void squashed(Use use) throws Exception {
    // by its descriptor: the user may not pass the directories above it
    try (FileTree tree = FileTree.openStore(storePath)) {
      LIBC.syscall(SETFSUID, OF_NOBODY, 0, 0, 0);
      try {
        use.of(Path.of("/proc/self/fd/" + tree.fd()));
      } finally {
        LIBC.syscall(SETFSUID, 0, 0, 0, 0);
      }
    }
  }

  /** Root mounted the store, and then it was exported with root_squash. */
  @Test
  void lastMount_thatRootHasNoted_isReadAndNotedByASquashedRoot() throws Exception {
    assumeTrue(me == 0, "only root can be taken for another user");
    Files.setAttribute(storePath, "unix:uid", OF_NOBODY);
    store.noteMount();
    assertThat(modeOf(storePath.resolve(Store.LAST))).isEqualTo(0644);
    store.release(true);

    squashed(
        path -> {
          try (DirectoryStore next = new DirectoryStore(path, "two", false)) {
            assertThat(next.lastMount()).isEqualTo("one");
            next.noteMount();
            next.release(true);
          }
        });
    assertThat(storePath.resolve(Store.LAST)).hasContent("two");
    assertThat(modeOf(storePath.resolve(Store.LAST))).isEqualTo(0644);
  }

  /** Nothing in it was this node's, and yet every other node was refused. */
  @Test
  void storeThatCannotBeOpened_isFreeAgain() throws Exception {
    assumeTrue(me == 0, "only root can be taken for another user");
    Files.setAttribute(storePath, "unix:uid", OF_NOBODY);
    store.noteMount();
    store.release(true);
    Files.setPosixFilePermissions(
        storePath.resolve(Store.LAST), PosixFilePermissions.fromString("rw-------"));

    squashed(
        path ->
            assertThatThrownBy(() -> new DirectoryStore(path, "two", false))
                .isInstanceOf(ErrnoException.class));

    assertThat(storePath.resolve(Store.OWNER)).doesNotExist();
  }

  /** Programs still had files open in the mount, and other nodes could take the store. */
  @Test
  void daemonThatGoesOn_andCannotNoteItsMount_keepsTheStore() throws Exception {
    store.release(true);
    Path fronts = directory.resolve("first");
    try (OpenedFront first =
        new OpenedFront(
            fronts, 1 << 30, "store", (owner, isHeld) -> open(owner, fronts, isHeld), false)) {
      first.front().close();
      first.front().closeFiles();
      first.store().close();
    }

    OpenedFront.Opener failing =
        (owner, isHeld) ->
            new ForwardingStore(new DirectoryStore(storePath, owner, isHeld)) {
              @Override
              public void noteMount() throws ErrnoException {
                throw ErrnoException.of(Errno.EIO, Store.LAST);
              }
            };
    assertThatThrownBy(() -> new OpenedFront(fronts, 1 << 30, "store", failing, true))
        .matches(e -> ((ErrnoException) e).is(Errno.EIO));

    assertThat(storePath.resolve(Store.OWNER)).exists();
  }

  private int modeOf(Path file) throws Exception {
    return (Integer) Files.getAttribute(file, "unix:mode") & 07777;
  }

  private static Operation.Attributes permissions(String path, int mode) {
    return new Operation.Attributes(path, mode, -1, -1, FileTree.OMIT, FileTree.OMIT);
  }

  @Test
  void symlink_inAFilesPlace_isNotFollowed() throws Exception {
    Files.createSymbolicLink(storePath.resolve("a"), outside);

    assertThatThrownBy(() -> store.apply(permissions("a", 0666)))
        .isInstanceOf(ErrnoException.class);
    assertThatThrownBy(() -> store.apply(new Operation.Resize("a", 0)))
        .isInstanceOf(ErrnoException.class);
    long memory = LIBC.malloc(8);
    assertThatThrownBy(() -> store.write("a", memory, 8, 0)).isInstanceOf(ErrnoException.class);
    LIBC.free(memory);

    assertThat(outside).hasContent("secret");
    assertThat(modeOf(outside)).isEqualTo(0600);
  }

  @Test
  void symlink_inADirectorysPlace_isNotFollowed() throws Exception {
    Files.createSymbolicLink(storePath.resolve("d"), directory);

    assertThatThrownBy(() -> store.apply(permissions("d/outside", 0666)))
        .isInstanceOf(ErrnoException.class);
    assertThatThrownBy(() -> store.apply(new Operation.Remove("d/outside", false)))
        .isInstanceOf(ErrnoException.class);

    assertThat(modeOf(outside)).isEqualTo(0600);
  }

  @Test
  void pipe_inThePlaceOfAFile_keepsNobodyWaiting() throws Exception {
    store.apply(new Operation.Make("p", 0010000 | 0600, 0, me, me, ""));
    Stat expected = store.tree().stat("p");

    assertThatThrownBy(() -> store.openToRead("p", expected))
        .hasMessage("p: is no regular file any more");
    assertThatThrownBy(() -> store.apply(new Operation.Resize("p", 1)))
        .hasMessage("p: is no regular file any more");
  }

  /** The process was killed after the store had it: the persister failed for ever. */
  @Test
  void removalOfAnAttribute_canBeRepeated() throws Exception {
    Files.writeString(storePath.resolve("a"), "");
    Operation.RemoveXattr removal = new Operation.RemoveXattr("a", "trusted.x");
    store.apply(new Operation.SetXattr("a", "trusted.x", "value", 0));

    store.apply(removal);
    store.apply(removal);

    assertThat(store.tree().xattrNames("a")).doesNotContain("trusted.x");
  }

  @Test
  void renameThatWasApplied_isKnown_alsoIfInodesHaveOtherNumbersNow() throws Exception {
    Files.writeString(storePath.resolve("to"), "");
    Operation.Rename rename = new Operation.Rename("from", "to", 0);

    assertThat(store.isApplied(rename, 12345)).isTrue();
    Files.writeString(storePath.resolve("from"), "");
    assertThat(store.isApplied(rename, 12345)).isFalse();
  }

  /** An admin has made room, and those that waited for the removal got an error. */
  @Test
  void removal_ofWhatSomebodyHasRemovedWithItsDirectory_isDone() throws Exception {
    store.apply(new Operation.Remove("d/e/file", false));
    store.apply(new Operation.Remove("d/e", true));
    assertThatThrownBy(() -> store.apply(new Operation.Rename("d/e", "f", 0)))
        .matches(e -> ((ErrnoException) e).is(Errno.ENOENT));
  }

  /** Its files would be taken for others that have the same inode numbers. */
  @Test
  void directoryOnAnotherFileSystem_isNotListed() throws Exception {
    try (FileTree machine = FileTree.openStore(Path.of("/"))) {
      assertThat(machine.list("")).isNotEmpty();
      assertThatThrownBy(() -> machine.list("proc"))
          .hasMessageStartingWith("proc: is on another file system than the store's root")
          .matches(e -> ((ErrnoException) e).is(Errno.EXDEV));
    }
  }

  @Test
  void largestFile_isTheLargestThatTheFileSystemTakes() throws Exception {
    Path file = Files.createFile(storePath.resolve("large"));
    long largest = store.largestFile();

    store.apply(new Operation.Resize("large", largest));
    assertThat(file).hasSize(largest);

    assertThatThrownBy(() -> store.apply(new Operation.Resize("large", Math.addExact(largest, 1))))
        .isInstanceOfAny(ErrnoException.class, ArithmeticException.class);
  }

  /** As NFS leaves it: everything behind the removal waited until a program closed its file. */
  private Path directoryWithAFileThatIsOpen() throws Exception {
    Path directory = Files.createDirectory(storePath.resolve("d"));
    return Files.writeString(directory.resolve(".nfs0000"), "open");
  }

  @Test
  void directory_ofAFileThatIsOpen_isRemoved_andGoesLater() throws Exception {
    Path held = directoryWithAFileThatIsOpen();

    store.apply(new Operation.Remove("d", true));

    assertThat(held.getParent()).doesNotExist();
    Path removed = storePath.resolve(DirectoryStore.REMOVED);
    assertThat(removed).isNotEmptyDirectory();
    assertThat(store.list("")).extracting(FileTree.Entry::name).containsExactly(Store.OWNER);
    assertThat(store.isApplied(new Operation.Remove("d", true), 0)).isTrue();

    new DirectoryStore(storePath, "one", false).close();
    assertThat(removed).doesNotExist();
  }

  @Test
  void directory_ofAFileThatIsOpen_isReplaced() throws Exception {
    Path held = directoryWithAFileThatIsOpen();
    Files.createDirectory(storePath.resolve("new"));
    Files.writeString(storePath.resolve("new/file"), "new");

    store.apply(new Operation.Rename("new", "d", 0));

    assertThat(held).doesNotExist();
    assertThat(storePath.resolve("new")).doesNotExist();
    assertThat(storePath.resolve("d/file")).hasContent("new");
  }

  @Test
  void directory_withAFileThatSomebodyMade_isNotRemoved() throws Exception {
    Path held = directoryWithAFileThatIsOpen();
    Files.writeString(held.resolveSibling("file"), "");
    Files.createDirectory(storePath.resolve("new"));

    assertThatThrownBy(() -> store.apply(new Operation.Remove("d", true)))
        .matches(e -> ((ErrnoException) e).is(Errno.ENOTEMPTY));
    assertThatThrownBy(() -> store.apply(new Operation.Rename("new", "d", 0)))
        .isInstanceOf(ErrnoException.class);
    assertThat(held).hasContent("open");
    assertThat(storePath.resolve(DirectoryStore.REMOVED)).doesNotExist();
  }

  @Test
  void largestFile_isThatOfTheFileSystem() {
    assertThat(store().largestFile()).isGreaterThan(1L << 40);
  }
}
