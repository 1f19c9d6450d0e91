package io.holdfast.fs.origin;

import static io.holdfast.fs.Failures.assertFails;
import static io.holdfast.fs.origin.OriginStore.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.linux.NativeFiles;
import io.holdfast.fs.origin.Origin.EntrySink;
import io.holdfast.fs.origin.Origin.KnownEntry;
import io.holdfast.fs.origin.posix.PosixOrigin;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract, and what is particular to directories. */
final class PosixOriginTest extends DirectoryContractTest {
  private static final int NOBODY = 65_534;

  /** More entries than a listing passes at a time where the store may hang. */
  private static final int MANY = 300;

  private PosixStore directory;

  @Override
  DirectoryStore createStore() throws IOException {
    directory = new PosixStore();
    return directory;
  }

  @Override
  Origin openOrigin() throws FsException {
    return PosixOrigin.open(directory.root(), InstantSource.system());
  }

  @Override
  void removeStore() throws IOException {
    directory.close();
  }

  @Test
  void findAll_someHaveGone_findsTheOthers() throws IOException {
    store().file(bytes("dir/file"), new byte[3]);
    store().symlink(bytes("dir/link"), bytes("nowhere"));
    OriginPath directory = OriginPath.of("dir");
    Attributes way = origin().stat(directory);
    List<KnownEntry> known =
        List.of(
            new KnownEntry(OriginPath.of("file"), way),
            new KnownEntry(OriginPath.of("gone"), way),
            new KnownEntry(OriginPath.of("link"), way));

    Origin.FoundEntries found = origin().findAll(directory, known, List.of(way));

    assertThat(found.entries())
        .containsExactly(
            origin().stat(OriginPath.of("dir/file")),
            null,
            origin().stat(OriginPath.of("dir/link")));
    assertThat(found.way()).extracting(Attributes::inode).containsExactly(way.inode());
    assertFails(
        () -> origin().findAll(OriginPath.of("no"), known, List.of(way)), FsError.NOT_FOUND);
  }

  @Test
  void identity_sameOrAnotherDirectory_isTheSameOrAnother() throws Exception {
    Path root = directory.root();
    Path before = root.resolveSibling(root.getFileName() + "-before");
    String identity;
    try (Origin origin = openOrigin()) {
      identity = origin.identity();
      assertThat(identity).startsWith(root + ", inode ");
    }
    try (Origin origin = openOrigin()) {
      assertThat(origin.identity()).isEqualTo(identity);
    }
    Files.move(root, before);
    try {
      Files.createDirectory(root);
      try (Origin origin = openOrigin()) {
        assertThat(origin.identity()).isNotEqualTo(identity);
      }
      Files.delete(root);
    } finally {
      Files.move(before, root);
    }
  }

  /**
   * The next filesystem at the same place may have the device number of the one before, and its
   * root the inode number.
   */
  @Test
  void identity_ofARoot_tellsItsBirthAndItsMount() throws IOException {
    Path root = directory.root();
    MountTable.Mount mount = MountTable.read().covering(root).orElseThrow();
    FileTime born = Files.readAttributes(root, BasicFileAttributes.class).creationTime();
    assertThat(origin().identity())
        .contains(" of " + born.to(TimeUnit.NANOSECONDS) + ", of device ")
        .endsWith(", " + mount.type() + " " + mount.source());
  }

  @Test
  void open_missingDirectory_failsNotFound() {
    assertFails(
        () -> PosixOrigin.open(directory.root().resolve("no"), InstantSource.system()),
        FsError.NOT_FOUND);
  }

  @Test
  void open_file_failsNotDirectory() throws IOException {
    store().file(bytes("file"), new byte[1]);
    assertFails(
        () -> PosixOrigin.open(directory.root().resolve("file"), InstantSource.system()),
        FsError.NOT_DIRECTORY);
  }

  @Test
  void open_pathBeyondPathMax_failsNameTooLong() {
    Path path = Path.of("/" + "d/".repeat(3000));
    assertFails(() -> PosixOrigin.open(path, InstantSource.system()), FsError.NAME_TOO_LONG);
  }

  @Test
  void origin_directoryMovedAway_goesOnReadingIt() throws IOException {
    Path place = directory.root().resolve("place");
    store().file(bytes("place/file"), bytes("content"));
    try (Origin origin = PosixOrigin.open(place, InstantSource.system())) {
      Files.move(place, directory.root().resolve("moved"));
      Files.createDirectory(place);
      assertThat(origin.stat(OriginPath.of("file")).size()).isEqualTo(7);
      try (OriginFile file = open(origin, OriginPath.of("file"))) {
        assertThat(read(file, 0, 10)).isEqualTo(bytes("content"));
      }
    }
  }

  /**
   * Root checked a user's directory, and opened the symlink to a secret one that the user had put
   * in its place meanwhile: the mount showed that to all.
   */
  @Test
  void requirePlace_symlinkInItsPlace_isRefused() throws IOException {
    Path root = directory.root().toRealPath();
    Path secret = Files.createDirectory(root.resolve("secret"));
    Path place = Files.createSymbolicLink(root.resolve("place"), secret);
    try (PosixOrigin replaced = PosixOrigin.open(place, InstantSource.system());
        PosixOrigin plain = PosixOrigin.open(secret, InstantSource.system())) {
      assertFails(replaced::requirePlace, FsError.STALE);
      plain.requirePlace();
    }
  }

  @Test
  void mayHang_localDirectory_isFalse() {
    assertThat(origin().mayHang()).isFalse();
  }

  /** Whatever is not known to live on this machine may hang. */
  @Test
  void mayHang_unknownFilesystem_isTrue() throws FsException {
    try (Origin origin = PosixOrigin.open(Path.of("/proc/self"), InstantSource.system())) {
      assertThat(origin.mayHang()).isTrue();
    }
  }

  /** As a network filesystem is asked; {@code CachedAttributesIT} has a client that keeps more. */
  @Test
  void sync_filesystemThatMayHang_asksForWhatIsThere() throws FsException {
    List<String> names = new ArrayList<>();
    EntrySink synced =
        new EntrySink() {
          @Override
          public void entry(byte[] name, int type, long inode, Attributes attributes) {
            names.add(new String(name, StandardCharsets.UTF_8));
          }

          @Override
          public boolean isSynced() {
            return true;
          }
        };
    try (Origin origin = PosixOrigin.open(Path.of("/proc/self"), InstantSource.system())) {
      origin.sync(OriginPath.ROOT);
      origin.sync(OriginPath.of("status"));
      origin.sync(OriginPath.of("no/such"));
      origin.list(OriginPath.ROOT, synced);
    }
    assertThat(names).contains("status", "fd");
  }

  /** Counts the entries behind each look at the way. */
  private static final class Counts implements EntrySink {
    final List<Integer> behind = new ArrayList<>();

    @Override
    public void way(List<Attributes> way) {
      assertThat(way).hasSize(2);
      behind.add(0);
    }

    @Override
    public void entry(byte[] name, int type, long inode, @Nullable Attributes attributes) {
      behind.set(behind.size() - 1, behind.get(behind.size() - 1) + 1);
    }

    int sum() {
      return behind.stream().mapToInt(Integer::intValue).sum();
    }
  }

  /**
   * A flat directory of a slow network filesystem could not be listed: the origin asked for all
   * names before it passed the first entry, and that took longer than a deadline.
   */
  @Test
  void list_storeThatMayHang_passesFewEntriesAtATime() throws IOException {
    Counts counts = new Counts();
    List<InputStream> open = new ArrayList<>();
    try (Origin origin = PosixOrigin.open(Path.of("/proc/self"), InstantSource.system())) {
      for (int i = 0; i < MANY; i++) {
        open.add(Files.newInputStream(Path.of("/dev/null")));
      }
      origin.list(OriginPath.of("fd"), counts);
    } finally {
      for (InputStream each : open) {
        each.close();
      }
    }
    assertThat(counts.sum()).isGreaterThanOrEqualTo(MANY);
    assertThat(counts.behind).allMatch(count -> count <= 64);
  }

  /** A look at the way costs system calls, and nobody waits long for a local store. */
  @Test
  void list_localStore_passesManyEntriesAtATime() throws IOException {
    for (int i = 0; i < MANY; i++) {
      store().file(bytes("dir/file" + i), new byte[0]);
    }
    Counts counts = new Counts();
    origin().list(OriginPath.of("dir"), counts);
    assertThat(counts.sum()).isEqualTo(MANY);
    assertThat(counts.behind).anyMatch(count -> count > 64);
  }

  @ParameterizedTest
  @ValueSource(strings = {"root/etc", "cwd/.", "fd/0", "task/../exe"})
  void magicLink_onTheWayOrLast_isNotFollowed(String path) throws FsException {
    try (Origin origin = PosixOrigin.open(Path.of("/proc/self"), InstantSource.system())) {
      assertFails(() -> open(origin, OriginPath.of(path)), FsError.SYMLINK);
    }
  }

  @Test
  void stat_file_equalsWhatJavaTells() throws IOException {
    store().file(bytes("file"), new byte[10_000]);
    Path path = directory.root().resolve("file");
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("r-xr----x"));
    Files.createLink(directory.root().resolve("second"), path);
    Attributes attributes = origin().stat(OriginPath.of("file"));
    assertThat(attributes.mode()).isEqualTo(number(path, "unix:mode"));
    assertThat(attributes.inode()).isEqualTo(number(path, "unix:ino"));
    assertThat(attributes.uid()).isEqualTo(number(path, "unix:uid"));
    assertThat(attributes.gid()).isEqualTo(number(path, "unix:gid"));
    assertThat(attributes.links()).isEqualTo(2);
    assertThat(attributes.blocks() * 512).isGreaterThanOrEqualTo(10_000);
    assertThat(attributes.modified()).isEqualTo(nanos(Files.getLastModifiedTime(path)));
    assertThat(attributes.changed())
        .isEqualTo(nanos((FileTime) Files.getAttribute(path, "unix:ctime")));
    assertThat(attributes.accessed())
        .isEqualTo(nanos((FileTime) Files.getAttribute(path, "unix:lastAccessTime")));
  }

  private static long number(Path path, String name) throws IOException {
    return ((Number) Files.getAttribute(path, name, LinkOption.NOFOLLOW_LINKS)).longValue();
  }

  private static long nanos(FileTime time) {
    Instant instant = time.toInstant();
    return instant.getEpochSecond() * 1_000_000_000L + instant.getNano();
  }

  @ParameterizedTest
  @CsvSource({"1969-12-31T23:59:59.75Z", "1970-01-01T00:00:00Z", "2038-01-19T03:14:08.5Z"})
  void stat_oddTimes_areExact(String text) throws Exception {
    Instant time = Instant.parse(text);
    store().file(bytes("file"), new byte[1]);
    // Java cannot set a time before 1970
    String path = directory.root().resolve("file").toString();
    assertThat(new ProcessBuilder("touch", "-d", text, path).start().waitFor()).isZero();
    long modified = origin().stat(OriginPath.of("file")).modified();
    assertThat(modified).isEqualTo(nanos(FileTime.from(time)));
  }

  @Test
  void stat_deviceNode_hasItsNumber() throws FsException {
    try (Origin origin = PosixOrigin.open(Path.of("/dev"), InstantSource.system())) {
      Attributes attributes = origin.stat(OriginPath.of("null"));
      assertThat(attributes.type()).isEqualTo(0x2000);
      assertThat(attributes.device()).isEqualTo(0x103);
    }
  }

  /** A writer that is not done would be taken for one. */
  @Test
  void open_fileJustWritten_waitsUntilItIsLeftAlone() throws IOException {
    store().file(bytes("file"), bytes("content"));
    long written = nanos(Files.getLastModifiedTime(directory.root().resolve("file")));
    try (OriginFile file = open(origin(), OriginPath.of("file"))) {
      long opened = nanos(FileTime.from(Instant.now()));
      assertThat(opened - written).isGreaterThan(Duration.ofMillis(90).toNanos());
      assertThat(read(file, 0, 10)).isEqualTo(bytes("content"));
    }
  }

  @Test
  void read_file_leavesTheAccessTimeAlone() throws IOException {
    store().file(bytes("file"), new byte[100]);
    Path path = directory.root().resolve("file");
    // older than the change, so that a plain read would set it whatever the mount's atime option
    Files.setAttribute(path, "unix:lastAccessTime", FileTime.from(Instant.ofEpochSecond(1000)));
    try (OriginFile file = open(origin(), OriginPath.of("file"))) {
      assertThat(read(file, 0, 100)).hasSize(100);
    }
    assertThat(origin().stat(OriginPath.of("file")).accessed()).isEqualTo(1000 * 1_000_000_000L);
  }

  /** Only an owner may read without setting the access time; others read all the same. */
  @Test
  void open_fileOfAnotherUser_works() throws Exception {
    assumeTrue(isRoot(), "root, who can become somebody else");
    store().file(bytes("file"), bytes("content"));
    asNobody(
        () -> {
          try (OriginFile file = open(origin(), OriginPath.of("file"))) {
            assertThat(read(file, 0, 10)).isEqualTo(bytes("content"));
          }
        });
  }

  @Test
  void forbiddenEntries_everyCall_failAccessDenied() throws Exception {
    assumeTrue(isRoot(), "root, who can become somebody else");
    store().file(bytes("file"), new byte[1]);
    store().file(bytes("dir/below"), new byte[1]);
    Files.setPosixFilePermissions(
        directory.root().resolve("file"), PosixFilePermissions.fromString("rw-------"));
    Files.setPosixFilePermissions(
        directory.root().resolve("dir"), PosixFilePermissions.fromString("rwx------"));
    asNobody(
        () -> {
          assertFails(() -> open(origin(), OriginPath.of("file")), FsError.ACCESS_DENIED);
          assertFails(() -> origin().stat(OriginPath.of("dir/below")), FsError.ACCESS_DENIED);
          assertFails(
              () -> origin().list(OriginPath.of("dir"), OriginContractTest::ignore),
              FsError.ACCESS_DENIED);
          assertThat(origin().stat(OriginPath.of("file")).size()).isEqualTo(1);
        });
  }

  private static boolean isRoot() throws IOException {
    return number(Path.of("/proc/self"), "unix:uid") == 0;
  }

  @FunctionalInterface
  private interface Action {
    void run() throws Exception;
  }

  /** Runs on a thread of its own that meets the filesystem as a user without rights. */
  private void asNobody(Action action) throws Exception {
    loadClasses();
    FutureTask<Void> task =
        new FutureTask<>(
            () -> {
              NativeFiles.becomeForFiles(NOBODY);
              action.run();
              return null;
            });
    new Thread(task, "nobody").start();
    task.get(Await.LONGEST.toSeconds(), TimeUnit.SECONDS);
  }

  /**
   * Makes calls that succeed and fail: below a folder that nobody may read, no class can be loaded
   * as nobody.
   */
  private void loadClasses() throws Exception {
    store().file(bytes("readable"), new byte[1]);
    try (OriginFile file = open(origin(), OriginPath.of("readable"))) {
      assertThat(read(file, 0, 1)).hasSize(1);
    }
    OriginPath missing = OriginPath.of("missing");
    assertFails(() -> open(origin(), missing), FsError.NOT_FOUND);
    assertFails(() -> origin().stat(missing), FsError.NOT_FOUND);
    assertFails(() -> origin().list(missing, OriginContractTest::ignore), FsError.NOT_FOUND);
  }
}
