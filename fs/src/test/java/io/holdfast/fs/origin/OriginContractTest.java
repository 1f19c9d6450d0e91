package io.holdfast.fs.origin;

import static io.holdfast.fs.Failures.assertFails;
import static io.holdfast.fs.linux.Libc.LIBC;
import static io.holdfast.fs.origin.OriginStore.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.Seeds;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.origin.Origin.Part;
import io.holdfast.fs.origin.Origin.ScanSink;
import io.holdfast.fs.origin.Origin.ScannedEntry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What every origin does. A kind of store that lacks something, as an object store lacks symlinks,
 * says so by the {@code has} methods; what is left out then is reported as skipped.
 */
abstract class OriginContractTest {
  /** A name that is no UTF-8. */
  private static final byte[] RAW_NAME = {'b', (byte) 0xff, (byte) 0xfe, '\n', (byte) 0x80};

  private OriginStore store;
  private Origin origin;

  /** Creates an empty store. */
  abstract OriginStore createStore() throws IOException;

  /** Opens the origin that reads the store. */
  abstract Origin openOrigin() throws FsException;

  /** Removes the store; the origin is closed. */
  void removeStore() throws IOException {}

  boolean hasSymlinks() {
    return true;
  }

  boolean hasExtendedAttributes() {
    return true;
  }

  /** Whether names may be bytes that are no UTF-8. */
  boolean hasRawNames() {
    return true;
  }

  /** Whether there are entries that are neither file, directory nor symlink. */
  boolean hasSpecialFiles() {
    return true;
  }

  /** Whether a file can change while it is open, rather than be replaced only. */
  boolean hasChangesInPlace() {
    return true;
  }

  /** Whether what is a file cannot be a directory as well. */
  boolean hasRealDirectories() {
    return true;
  }

  final Origin origin() {
    return origin;
  }

  final OriginStore store() {
    return store;
  }

  /** Opens all of a file, or at least tries. */
  static OriginFile open(Origin origin, OriginPath path) throws FsException {
    Part all = new Part(new Version(1, 1, 1, ""), 0, 1);
    try {
      Attributes attributes = origin.stat(path);
      all = new Part(attributes.version(), 0, (int) attributes.size());
    } catch (FsException e) {
      // opening it is what fails
    }
    return origin.open(path, all);
  }

  @BeforeEach
  final void open() throws IOException {
    store = createStore();
    origin = openOrigin();
  }

  @AfterEach
  final void close() throws IOException {
    try {
      origin.close();
      origin.close();
      assertThat(store.open()).as("descriptors left open").isZero();
    } finally {
      removeStore();
    }
  }

  // attributes

  @Test
  void stat_file_tellsTypeAndSize() throws IOException {
    store.file(bytes("a/file"), new byte[12_345]);
    Attributes attributes = origin.stat(OriginPath.of("a/file"));
    assertThat(attributes.isRegular()).isTrue();
    assertThat(attributes.isDirectory()).isFalse();
    assertThat(attributes.isSymlink()).isFalse();
    assertThat(attributes.size()).isEqualTo(12_345);
    assertThat(attributes.modified()).isPositive();
    assertThat(attributes.links()).isPositive();
    assertThat(attributes.version()).isEqualTo(origin.stat(OriginPath.of("a/file")).version());
  }

  @Test
  void stat_emptyFile_hasNoBytes() throws IOException {
    store.file(bytes("empty"), new byte[0]);
    assertThat(origin.stat(OriginPath.of("empty")).size()).isZero();
    try (OriginFile file = open(origin, OriginPath.of("empty"))) {
      assertThat(read(file, 0, 10)).isEmpty();
    }
  }

  @Test
  void stat_directoryAndRoot_areDirectories() throws IOException {
    store.directory(bytes("a/b"));
    assertThat(origin.stat(OriginPath.of("a/b")).isDirectory()).isTrue();
    assertThat(origin.stat(OriginPath.of("a")).isDirectory()).isTrue();
    assertThat(origin.stat(OriginPath.ROOT).isDirectory()).isTrue();
  }

  @Test
  void stat_entriesOfOneStore_haveInodesOfTheirOwn() throws IOException {
    store.file(bytes("a"), new byte[1]);
    store.file(bytes("b"), new byte[1]);
    store.directory(bytes("c"));
    Set<Long> inodes = new HashSet<>();
    for (String name : List.of("a", "b", "c")) {
      inodes.add(origin.stat(OriginPath.of(name)).inode());
    }
    assertThat(inodes).hasSize(3);
  }

  // failures

  @Test
  void missingEntry_everyCall_failsNotFound() {
    OriginPath path = OriginPath.of("no/such");
    assertFails(() -> origin.stat(path), FsError.NOT_FOUND);
    assertFails(() -> open(origin, path), FsError.NOT_FOUND);
    assertFails(() -> origin.list(path, OriginContractTest::ignore), FsError.NOT_FOUND);
    assertFails(() -> origin.readLink(path), FsError.NOT_FOUND);
    assertFails(() -> origin.extendedAttribute(path, bytes("user.a")), FsError.NOT_FOUND);
    assertFails(() -> origin.extendedAttributeNames(path), FsError.NOT_FOUND);
  }

  @Test
  void failure_ofAnEntry_namesIt() {
    try {
      origin.stat(OriginPath.of("some/missing-entry"));
    } catch (FsException e) {
      assertThat(e).hasMessageContaining("some/missing-entry");
      return;
    }
    throw new AssertionError("found");
  }

  @Test
  void pathBelowAFile_everyCall_failsNotDirectory() throws IOException {
    assumeTrue(hasRealDirectories(), "a store with directories");
    store.file(bytes("file"), new byte[1]);
    OriginPath path = OriginPath.of("file/below");
    assertFails(() -> origin.stat(path), FsError.NOT_DIRECTORY);
    assertFails(() -> open(origin, path), FsError.NOT_DIRECTORY);
    assertFails(
        () -> origin.list(OriginPath.of("file"), OriginContractTest::ignore),
        FsError.NOT_DIRECTORY);
  }

  @Test
  void open_directory_neverGivesAFile() throws IOException {
    store.directory(bytes("dir"));
    assertFails(
        () -> {
          try (OriginFile file = open(origin, OriginPath.of("dir"))) {
            file.version();
          }
        },
        FsError.IS_DIRECTORY,
        FsError.STALE);
  }

  @Test
  void longName_everyCall_failsNameTooLong() {
    OriginPath path = OriginPath.of("n".repeat(256));
    assertFails(() -> origin.stat(path), FsError.NAME_TOO_LONG);
    assertFails(() -> open(origin, path), FsError.NAME_TOO_LONG);
    OriginPath longer = OriginPath.of("n".repeat(10_000));
    assertFails(() -> origin.stat(longer), FsError.NAME_TOO_LONG);
  }

  @Test
  void readLink_ofAFile_failsInvalid() throws IOException {
    store.file(bytes("file"), new byte[1]);
    assertFails(() -> origin.readLink(OriginPath.of("file")), FsError.INVALID);
    assertFails(() -> origin.readLink(OriginPath.ROOT), FsError.INVALID);
  }

  // symlinks and escapes

  @Test
  void symlink_stat_isOfItself() throws IOException {
    assumeTrue(hasSymlinks(), "a store with symlinks");
    store.file(bytes("target"), new byte[100]);
    store.symlink(bytes("link"), bytes("target"));
    Attributes attributes = origin.stat(OriginPath.of("link"));
    assertThat(attributes.isSymlink()).isTrue();
    assertThat(attributes.size()).isEqualTo("target".length());
  }

  @ParameterizedTest
  @ValueSource(strings = {"target", "/etc/passwd", "../../up", "missing", "a very long target "})
  void symlink_readLink_givesTheTargetAsItIs(String text) throws IOException {
    assumeTrue(hasSymlinks(), "a store with symlinks");
    String target = text.endsWith(" ") ? text.repeat(190) : text;
    store.symlink(bytes("dir/link"), bytes(target));
    assertThat(origin.readLink(OriginPath.of("dir/link"))).isEqualTo(bytes(target));
  }

  @ParameterizedTest
  @ValueSource(strings = {"file", "/etc/hostname", "../outside", "self"})
  void symlink_asLastName_isNotFollowed(String target) throws IOException {
    assumeTrue(hasSymlinks(), "a store with symlinks");
    store.file(bytes("file"), new byte[1]);
    store.symlink(bytes("self"), bytes(target));
    assertFails(() -> open(origin, OriginPath.of("self")), FsError.SYMLINK);
    assertFails(
        () -> origin.list(OriginPath.of("self"), OriginContractTest::ignore),
        FsError.SYMLINK,
        FsError.NOT_DIRECTORY);
  }

  @ParameterizedTest
  @ValueSource(strings = {"dir", "/etc", "../..", ".", "way"})
  void symlink_onTheWay_isNotFollowed(String target) throws IOException {
    assumeTrue(hasSymlinks(), "a store with symlinks");
    store.file(bytes("dir/passwd"), new byte[1]);
    store.symlink(bytes("way"), bytes(target));
    OriginPath path = OriginPath.of("way/passwd");
    assertFails(() -> origin.stat(path), FsError.SYMLINK);
    assertFails(() -> open(origin, path), FsError.SYMLINK);
    assertFails(() -> origin.list(path, OriginContractTest::ignore), FsError.SYMLINK);
    assertFails(() -> origin.readLink(path), FsError.SYMLINK);
    assertFails(() -> origin.extendedAttributeNames(path), FsError.SYMLINK);
  }

  @ParameterizedTest
  @ValueSource(strings = {"..", "../etc/passwd", "dir/../../etc/passwd", "/etc/passwd", "/"})
  void path_leadingOutOfTheRoot_isRefused(String text) throws IOException {
    store.directory(bytes("dir"));
    OriginPath path = OriginPath.of(text);
    assertFails(() -> origin.stat(path), FsError.SYMLINK);
    assertFails(() -> open(origin, path), FsError.SYMLINK);
    assertFails(() -> origin.list(path, OriginContractTest::ignore), FsError.SYMLINK);
  }

  // names

  @Test
  void rawName_everyCall_isTakenAsItIs() throws IOException {
    assumeTrue(hasRawNames(), "a store with names of any bytes");
    byte[] path = OriginPath.of("d").child(RAW_NAME).bytes();
    store.file(path, bytes("content"));
    assertThat(origin.stat(OriginPath.of(path)).size()).isEqualTo(7);
    try (OriginFile file = open(origin, OriginPath.of(path))) {
      assertThat(read(file, 0, 7)).isEqualTo(bytes("content"));
    }
    List<byte[]> names = new ArrayList<>();
    origin.list(OriginPath.of("d"), (name, type, inode) -> names.add(name));
    assertThat(names).singleElement().isEqualTo(RAW_NAME);
  }

  @Test
  void rawTarget_readLink_isGivenAsItIs() throws IOException {
    assumeTrue(hasSymlinks() && hasRawNames(), "a store with symlinks and names of any bytes");
    store.symlink(bytes("link"), RAW_NAME);
    assertThat(origin.readLink(OriginPath.of("link"))).isEqualTo(RAW_NAME);
  }

  @Test
  void path_longerThanPathMax_isReached() throws IOException {
    String directory = "d".repeat(200);
    String above = (directory + "/").repeat(60);
    store.file(bytes(above + "file"), bytes("deep"));
    assertThat(above.length()).isGreaterThan(2 * 4096);
    assertThat(origin.stat(OriginPath.of(above + "file")).size()).isEqualTo(4);
    try (OriginFile file = open(origin, OriginPath.of(above + "file"))) {
      assertThat(read(file, 1, 10)).isEqualTo(bytes("eep"));
    }
    List<byte[]> names = new ArrayList<>();
    String last = above.substring(0, above.length() - 1);
    origin.list(OriginPath.of(last), (name, type, inode) -> names.add(name));
    assertThat(names).singleElement().isEqualTo(bytes("file"));
    assertFails(() -> origin.stat(OriginPath.of(above + "none")), FsError.NOT_FOUND);
    assertFails(() -> origin.stat(OriginPath.of("x" + above + "file")), FsError.NOT_FOUND);
  }

  /** Wherever the path is cut into pieces that the kernel takes. */
  @Test
  void path_ofEveryLengthAroundPathMax_isReached() throws IOException {
    String above = ("d".repeat(99) + "/").repeat(40);
    store.file(bytes(above + "f"), new byte[1]);
    for (int length = 4090 - above.length(); length <= 4100 - above.length(); length++) {
      String path = above + "f".repeat(length);
      store.file(bytes(path), new byte[length]);
      assertThat(origin.stat(OriginPath.of(path)).size()).isEqualTo(length);
    }
  }

  @Test
  void symlink_behindPathMax_isNotFollowed() throws IOException {
    assumeTrue(hasSymlinks(), "a store with symlinks");
    String above = ("d".repeat(200) + "/").repeat(30);
    store.file(bytes(above + "dir/file"), new byte[1]);
    store.symlink(bytes(above + "link"), bytes("dir"));
    assertFails(() -> origin.stat(OriginPath.of(above + "link/file")), FsError.SYMLINK);
  }

  // directories

  @Test
  void list_directory_givesEachEntryOnce() throws IOException {
    store.file(bytes("d/file"), new byte[1]);
    store.file(bytes("d/.hidden"), new byte[1]);
    store.file(bytes("d/sub/below"), new byte[1]);
    store.file(bytes("beside"), new byte[1]);
    Map<String, Integer> listed = new HashMap<>();
    origin.list(
        OriginPath.of("d"),
        (name, type, inode) -> {
          assertThat(listed.put(text(name), type)).isNull();
          assertThat(inode).isNotZero();
        });
    assertThat(listed.keySet()).containsExactlyInAnyOrder("file", ".hidden", "sub");
    assertThat(listed.get("file")).isIn(Attributes.REGULAR, 0);
    assertThat(listed.get("sub")).isIn(Attributes.DIRECTORY, 0);
  }

  @Test
  void listWithAttributes_directory_isTheListingWithWhatStatTells() throws IOException {
    store.file(bytes("dir/file"), new byte[3]);
    store.file(bytes("dir/sub/other"), new byte[5]);
    store.symlink(bytes("dir/link"), bytes("nowhere"));
    List<String> listed = new ArrayList<>();
    origin.list(
        OriginPath.of("dir"),
        (name, type, inode) -> listed.add(new String(name, StandardCharsets.UTF_8)));
    List<String> withAttributes = new ArrayList<>();
    Map<String, Attributes> attributes = new HashMap<>();
    origin.listWithAttributes(
        OriginPath.of("dir"),
        (name, type, inode, told) -> {
          withAttributes.add(new String(name, StandardCharsets.UTF_8));
          attributes.put(new String(name, StandardCharsets.UTF_8), told);
        });
    assertThat(withAttributes).isEqualTo(listed).hasSize(3);
    for (String name : listed) {
      assertThat(attributes.get(name))
          .isEqualTo(origin.stat(OriginPath.of("dir").child(bytes(name))));
    }
    assertThat(attributes.get("link").isSymlink()).isTrue();
    assertFails(
        () -> origin.listWithAttributes(OriginPath.of("dir/file"), (name, type, inode, told) -> {}),
        FsError.NOT_DIRECTORY);
  }

  @Test
  void list_emptyRoot_givesNothing() throws IOException {
    origin.list(
        OriginPath.ROOT,
        (name, type, inode) -> {
          throw new AssertionError(text(name));
        });
  }

  @Test
  void list_manyEntries_givesAll() throws IOException {
    Set<String> expected = new HashSet<>();
    for (int i = 0; i < 3000; i++) {
      String name = "entry-with-a-name-of-some-length-" + i;
      store.file(bytes("d/" + name), new byte[0]);
      expected.add(name);
    }
    List<String> listed = new ArrayList<>();
    origin.list(OriginPath.of("d"), (name, type, inode) -> listed.add(text(name)));
    assertThat(listed).hasSize(3000).hasSameElementsAs(expected);
  }

  @Test
  void list_sinkThatUsesTheOrigin_getsEveryEntry() throws IOException {
    for (int i = 0; i < 50; i++) {
      store.file(bytes("d/" + i), new byte[i]);
    }
    List<FsException> failures = new ArrayList<>();
    long[] sum = new long[1];
    origin.list(
        OriginPath.of("d"),
        (name, type, inode) -> {
          try {
            sum[0] += origin.stat(OriginPath.of("d").child(name)).size();
          } catch (FsException e) {
            failures.add(e);
          }
        });
    assertThat(failures).isEmpty();
    assertThat(sum[0]).isEqualTo(49 * 50 / 2);
  }

  @Test
  void list_randomTree_isTheTreeThatWasWritten() throws IOException {
    Random random = new Random(Seeds.next("list_randomTree"));
    Map<OriginPath, byte[]> written = new HashMap<>();
    for (int i = 0; i < 200; i++) {
      OriginPath directory =
          random.nextBoolean() ? OriginPath.ROOT : OriginPath.of("d" + random.nextInt(5));
      byte[] content = new byte[random.nextInt(3000)];
      random.nextBytes(content);
      OriginPath path = directory.child(randomName(random));
      written.put(path, content);
      store.file(path.bytes(), content);
    }
    Map<OriginPath, byte[]> found = new HashMap<>();
    walk(OriginPath.ROOT, found);
    assertThat(found.keySet()).isEqualTo(written.keySet());
    written.forEach((path, content) -> assertThat(found.get(path)).isEqualTo(content));
  }

  private byte[] randomName(Random random) {
    byte[] name = new byte[2 + random.nextInt(100)];
    for (int i = 0; i < name.length; i++) {
      int value = hasRawNames() ? 1 + random.nextInt(255) : 'a' + random.nextInt(26);
      name[i] = (byte) (value == '/' ? 'x' : value);
    }
    name[0] = 'f';
    return name;
  }

  private void walk(OriginPath directory, Map<OriginPath, byte[]> found) throws FsException {
    List<byte[]> names = new ArrayList<>();
    origin.list(directory, (name, type, inode) -> names.add(name));
    for (byte[] name : names) {
      OriginPath path = directory.child(name);
      Attributes attributes = origin.stat(path);
      if (attributes.isDirectory()) {
        walk(path, found);
      } else {
        try (OriginFile file = open(origin, path)) {
          found.put(path, read(file, 0, (int) attributes.size() + 1));
        }
      }
    }
  }

  // content

  @Test
  void read_anyRange_givesItsBytes() throws IOException {
    Random random = new Random(Seeds.next("read_anyRange"));
    byte[] content = new byte[300_001];
    random.nextBytes(content);
    store.file(bytes("file"), content);
    try (OriginFile file = open(origin, OriginPath.of("file"))) {
      for (int i = 0; i < 300; i++) {
        int offset = random.nextInt(content.length + 1000);
        int length = random.nextInt(100_000);
        int from = Math.min(offset, content.length);
        int to = Math.min(content.length, offset + length);
        assertThat(read(file, offset, length))
            .isEqualTo(Arrays.copyOfRange(content, from, Math.max(from, to)));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {100, 101, 4096, 1L << 40, Long.MAX_VALUE / 2})
  void read_beyondTheEnd_givesNothing(long offset) throws IOException {
    store.file(bytes("file"), new byte[100]);
    try (OriginFile file = open(origin, OriginPath.of("file"))) {
      assertThat(read(file, offset, 50)).isEmpty();
      assertThat(read(file, 99, 50)).hasSize(1);
    }
  }

  @Test
  void read_afterDiscard_givesTheSameBytes() throws IOException {
    byte[] content = bytes("what is read again".repeat(1000));
    store.file(bytes("file"), content);
    try (OriginFile file = open(origin, OriginPath.of("file"))) {
      assertThat(read(file, 0, content.length)).isEqualTo(content);
      file.discard(0, content.length);
      file.discard(5, 7);
      assertThat(read(file, 0, content.length)).isEqualTo(content);
    }
  }

  @Test
  void open_manyFilesAtOnce_areIndependent() throws IOException {
    List<OriginFile> open = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      store.file(bytes("f" + i), bytes("content " + i));
      open.add(open(origin, OriginPath.of("f" + i)));
    }
    for (int i = 0; i < 20; i++) {
      assertThat(text(read(open.get(i), 8, 10))).isEqualTo(Integer.toString(i));
    }
    open.forEach(OriginFile::close);
  }

  // versions

  @Test
  void version_ofOpenFile_isThatOfStat() throws IOException {
    store.file(bytes("file"), new byte[10]);
    try (OriginFile file = open(origin, OriginPath.of("file"))) {
      assertThat(file.version()).isEqualTo(origin.stat(OriginPath.of("file")).version());
    }
  }

  @Test
  void version_fileReplacedByOneOfTheSameSize_isAnother() throws IOException {
    store.file(bytes("file"), bytes("old"));
    Version before = origin.stat(OriginPath.of("file")).version();
    store.file(bytes("file"), bytes("new"));
    assertThat(origin.stat(OriginPath.of("file")).version()).isNotEqualTo(before);
  }

  /** Whatever an open file gives is of the version that it tells. */
  @Test
  void version_fileReplacedWhileOpen_staysThatOfTheBytes() throws IOException {
    store.file(bytes("file"), bytes("old"));
    Version before = origin.stat(OriginPath.of("file")).version();
    try (OriginFile file = open(origin, OriginPath.of("file"))) {
      store.file(bytes("file"), bytes("new"));
      byte[] read = read(file, 0, 3);
      assertThat(file.version().equals(before)).isEqualTo(Arrays.equals(read, bytes("old")));
    }
  }

  @Test
  void version_fileAppendedTo_isAnother() throws IOException {
    assumeTrue(hasChangesInPlace(), "a store whose files change in place");
    store.file(bytes("file"), bytes("old"));
    try (OriginFile file = open(origin, OriginPath.of("file"))) {
      Version before = file.version();
      store.append(bytes("file"), bytes("more"));
      assertThat(file.version()).isNotEqualTo(before);
      assertThat(file.version()).isEqualTo(origin.stat(OriginPath.of("file")).version());
    }
  }

  @Test
  void version_fileWrittenInPlace_isAnother() throws IOException {
    assumeTrue(hasChangesInPlace(), "a store whose files change in place");
    store.file(bytes("file"), bytes("old"));
    try (OriginFile file = open(origin, OriginPath.of("file"))) {
      Version before = file.version();
      store.overwrite(bytes("file"), bytes("new"));
      assertThat(file.version()).isNotEqualTo(before);
      assertThat(read(file, 0, 3)).isEqualTo(bytes("new"));
    }
  }

  @Test
  void file_removedWhileOpen_keepsItsBytesOrFails() throws IOException {
    store.file(bytes("file"), bytes("content"));
    try (OriginFile file = open(origin, OriginPath.of("file"))) {
      store.remove(bytes("file"));
      assertThat(read(file, 0, 100)).isEqualTo(bytes("content"));
    }
    assertFails(() -> open(origin, OriginPath.of("file")), FsError.NOT_FOUND);
  }

  // what else a name may lead to

  @Test
  void fifo_inPlaceOfAFile_doesNotHang() throws IOException {
    assumeTrue(hasSpecialFiles(), "a store with FIFOs");
    store.fifo(bytes("fifo"));
    assertThat(origin.stat(OriginPath.of("fifo")).isRegular()).isFalse();
    Assertions.assertTimeoutPreemptively(
        Await.LONGEST,
        () ->
            assertFails(
                () -> {
                  try (OriginFile file = open(origin, OriginPath.of("fifo"))) {
                    file.version();
                  }
                },
                FsError.STALE,
                FsError.UNSUPPORTED));
  }

  // extended attributes and figures

  @Test
  void attribute_thatIsThere_isGivenWhole() throws IOException {
    assumeTrue(hasExtendedAttributes(), "a store with extended attributes");
    byte[] value = new byte[3000];
    new Random(1).nextBytes(value);
    store.file(bytes("file"), new byte[1]);
    store.attribute(bytes("file"), "user.label", value);
    store.attribute(bytes("file"), "user.empty", new byte[0]);
    OriginPath path = OriginPath.of("file");
    assertThat(origin.extendedAttribute(path, bytes("user.label"))).isEqualTo(value);
    assertThat(origin.extendedAttribute(path, bytes("user.empty"))).isEmpty();
    assertThat(text(origin.extendedAttributeNames(path)).split("\0", -1))
        .contains("user.label", "user.empty", "");
  }

  @Test
  void attribute_thatIsNot_failsNoAttribute() throws IOException {
    assumeTrue(hasExtendedAttributes(), "a store with extended attributes");
    store.file(bytes("file"), new byte[1]);
    OriginPath path = OriginPath.of("file");
    assertFails(() -> origin.extendedAttribute(path, bytes("user.none")), FsError.NO_ATTRIBUTE);
  }

  @Test
  void figures_ofTheStore_makeSense() throws IOException {
    StoreFigures figures = origin.figures();
    assertThat(figures.nameLength()).isGreaterThanOrEqualTo(255);
    assertThat(figures.blockSize()).isPositive();
    assertThat(figures.fragmentSize()).isPositive();
    assertThat(figures.blocks()).isPositive();
    assertThat(figures.blocksFree()).isBetween(0L, figures.blocks());
    assertThat(figures.blocksAvailable()).isBetween(0L, figures.blocksFree());
    assertThat(figures.filesFree()).isLessThanOrEqualTo(figures.files());
  }

  @Test
  void describe_origin_isOneLine() {
    assertThat(origin.describe()).isNotBlank().doesNotContain("\n");
  }

  static byte[] read(OriginFile file, long offset, int length) throws FsException {
    long memory = LIBC.malloc(length + 1L);
    try {
      int count = file.read(offset, memory, length);
      return Memory.bytes(memory, count);
    } finally {
      LIBC.free(memory);
    }
  }

  static void ignore(byte[] name, int type, long inode) {}

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  // scans

  @Test
  void scan_tree_passesEachEntryOnceBehindItsDirectory() throws Exception {
    Set<String> expected = new HashSet<>();
    for (int i = 0; i < 40; i++) {
      String file = "a" + i % 3 + "/b" + i % 5 + "/file" + i;
      store.file(bytes(file), new byte[i]);
      expected.addAll(List.of(file, file.substring(0, 5), file.substring(0, 2)));
    }
    Set<String> passed = ConcurrentHashMap.newKeySet();
    Set<String> complete = ConcurrentHashMap.newKeySet();
    List<String> wrong = new CopyOnWriteArrayList<>();
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      origin.scan(
          OriginPath.ROOT,
          threads,
          new ScanSink() {
            @Override
            public void entries(OriginPath directory, List<ScannedEntry> entries) {
              boolean known = directory.equals(OriginPath.ROOT) || passed.contains("" + directory);
              for (ScannedEntry entry : entries) {
                OriginPath path = directory.child(entry.name().bytes());
                Attributes attributes = entry.attributes();
                boolean sound =
                    known
                        && attributes != null
                        && (!attributes.isRegular()
                            || path.toString().endsWith("file" + attributes.size()));
                if (!sound || !passed.add(path.toString())) {
                  wrong.add(path + " " + attributes);
                }
              }
            }

            @Override
            public void complete(OriginPath directory) {
              if (!complete.add(directory.toString())) {
                wrong.add(directory + " is complete twice");
              }
            }

            @Override
            public void failed(OriginPath directory, FsException cause) {
              wrong.add(directory + ": " + cause);
            }

            @Override
            public boolean goesOn() {
              return true;
            }
          });
    } finally {
      threads.shutdown();
    }
    assertThat(wrong).isEmpty();
    assertThat(passed).isEqualTo(expected);
    expected.removeIf(path -> path.contains("file"));
    expected.add(OriginPath.ROOT.toString());
    assertThat(complete).isEqualTo(expected);
  }
}
