package io.holdfast.fs.origin;

import static io.holdfast.fs.Failures.assertFails;
import static io.holdfast.fs.linux.Libc.LIBC;
import static io.holdfast.fs.origin.OriginStore.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.Seeds;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.origin.Origin.KnownEntry;
import io.holdfast.fs.origin.Origin.Part;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The contract of every origin. {@link DirectoryContractTest} has the contract of stores with
 * directories.
 */
abstract class OriginContractTest {
  private OriginStore store;
  private Origin origin;

  /** Creates an empty store. */
  abstract OriginStore createStore() throws IOException;

  /** Opens the origin that reads the store. */
  abstract Origin openOrigin() throws FsException;

  /** Removes the store; the origin is closed. */
  void removeStore() throws IOException {}

  /** More entries than a listing gives at once. */
  int manyEntries() {
    return 3000;
  }

  /** Whether names may be bytes that are no UTF-8. */
  boolean hasRawNames() {
    return false;
  }

  final Origin origin() {
    return origin;
  }

  OriginStore store() {
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

  /** The answer of a store that finds entries one by one only. */
  private static final List<@Nullable Attributes> NOTHING_OF_FOUR = Collections.nCopies(4, null);

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

  @Test
  void find_nameInADirectory_givesWhatStatGives() throws IOException {
    store.file(bytes("a/b/file"), new byte[3]);
    OriginPath directory = OriginPath.of("a/b");
    List<Attributes> known =
        List.of(
            origin.stat(directory), origin.stat(OriginPath.of("a")), origin.stat(OriginPath.ROOT));

    Origin.Found found = origin.find(directory, bytes("file"), known, null);

    assertThat(found.entry()).isEqualTo(origin.stat(OriginPath.of("a/b/file")));
    assertThat(inodes(found.way())).isIn(List.of(), inodes(known));
    Origin.Found near = origin.find(directory, bytes("file"), known.subList(0, 1), null);
    assertThat(inodes(near.way())).isIn(List.of(), inodes(known.subList(0, 1)));
  }

  private static List<Long> inodes(List<Attributes> entries) {
    return entries.stream().map(Attributes::inode).toList();
  }

  @Test
  void find_whatIsNotThere_failsNotFound() throws IOException {
    store.file(bytes("a/file"), new byte[3]);
    OriginPath directory = OriginPath.of("a");
    List<Attributes> known = List.of(origin.stat(directory));
    for (String name : List.of("none", "..")) {
      assertFails(
          () -> origin.find(directory, bytes(name), known, null),
          FsError.NOT_FOUND,
          FsError.SYMLINK);
    }
    assertFails(
        () -> origin.find(OriginPath.of("no"), bytes("name"), known, null), FsError.NOT_FOUND);
  }

  @Test
  void findAll_someNames_givesWhatFindGivesOrNothing() throws IOException {
    store.file(bytes("a/b/one"), new byte[3]);
    store.file(bytes("a/b/two"), new byte[5]);
    OriginPath directory = OriginPath.of("a/b");
    List<Attributes> way = List.of(origin.stat(directory));
    Attributes one = origin.stat(OriginPath.of("a/b/one"));
    Attributes two = origin.stat(OriginPath.of("a/b/two"));
    List<KnownEntry> known =
        List.of(
            new KnownEntry(OriginPath.of("one"), one),
            new KnownEntry(OriginPath.of("none"), one),
            new KnownEntry(OriginPath.of(".."), one),
            new KnownEntry(OriginPath.of("two"), one));

    Origin.FoundEntries found = origin.findAll(directory, known, way);

    assertThat(found.entries()).isIn(Arrays.asList(one, null, null, two), NOTHING_OF_FOUR);
    assertThat(inodes(found.way())).isIn(List.of(), inodes(way));
  }

  // failures

  @Test
  void missingEntry_everyCall_failsNotFound() {
    OriginPath path = OriginPath.of("no/such");
    assertFails(() -> origin.stat(path), FsError.NOT_FOUND);
    assertFails(() -> open(origin, path), FsError.NOT_FOUND);
    assertFails(() -> origin.list(path, OriginContractTest::ignore), FsError.NOT_FOUND);
    assertFails(() -> origin.readLink(path, origin.stat(OriginPath.ROOT)), FsError.NOT_FOUND);
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
    for (OriginPath path : List.of(OriginPath.of("file"), OriginPath.ROOT)) {
      assertFails(() -> origin.readLink(path, origin.stat(path)), FsError.INVALID);
    }
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
        (name, type, inode, attributes) -> {
          assertThat(listed.put(text(name), type)).isNull();
          assertThat(inode).isNotZero();
        });
    assertThat(listed.keySet()).containsExactlyInAnyOrder("file", ".hidden", "sub");
    assertThat(listed.get("file")).isIn(Attributes.REGULAR, 0);
    assertThat(listed.get("sub")).isIn(Attributes.DIRECTORY, 0);
  }

  @Test
  void list_directory_hasWhatStatTells() throws IOException {
    store.file(bytes("dir/file"), new byte[3]);
    store.file(bytes("dir/sub/other"), new byte[5]);
    Map<String, Attributes> listed = new HashMap<>();
    origin.list(
        OriginPath.of("dir"),
        (name, type, inode, attributes) -> listed.put(text(name), attributes));
    assertThat(listed).containsOnlyKeys("file", "sub");
    for (String name : listed.keySet()) {
      assertThat(listed.get(name)).isEqualTo(origin.stat(OriginPath.of("dir").child(bytes(name))));
    }
    assertFails(
        () -> origin.list(OriginPath.of("dir/file"), (name, type, inode, told) -> {}),
        FsError.NOT_DIRECTORY);
  }

  @Test
  void list_emptyRoot_givesNothing() throws IOException {
    origin.list(
        OriginPath.ROOT,
        (name, type, inode, attributes) -> {
          throw new AssertionError(text(name));
        });
  }

  @Test
  void list_manyEntries_givesAll() throws IOException {
    Set<String> expected = new HashSet<>();
    for (int i = 0; i < manyEntries(); i++) {
      String name = "entry-with-a-name-of-some-length-" + i;
      store.file(bytes("d/" + name), new byte[0]);
      expected.add(name);
    }
    List<String> listed = new ArrayList<>();
    origin.list(OriginPath.of("d"), (name, type, inode, attributes) -> listed.add(text(name)));
    assertThat(listed).hasSize(manyEntries()).hasSameElementsAs(expected);
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
        (name, type, inode, attributes) -> {
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
    for (int i = 0; i < manyEntries() / 15; i++) {
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
    origin.list(directory, (name, type, inode, attributes) -> names.add(name));
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
    }
    for (int i = 0; i < 20; i++) {
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

  /**
   * The bytes of an open file are of the version that it tells; a file without a name may have
   * another version.
   */
  @Test
  void version_fileReplacedWhileOpen_isTheOldOneForOldBytesOnly() throws IOException {
    store.file(bytes("file"), bytes("old"));
    Version before = origin.stat(OriginPath.of("file")).version();
    try (OriginFile file = open(origin, OriginPath.of("file"))) {
      store.file(bytes("file"), bytes("new"));
      byte[] read = read(file, 0, 3);
      assertThat(!file.version().equals(before) || Arrays.equals(read, bytes("old"))).isTrue();
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

  static void ignore(byte[] name, int type, long inode, @Nullable Attributes attributes) {}

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
    ScanRecord record = new ScanRecord();
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      origin.scan(OriginPath.ROOT, threads, record);
    } finally {
      threads.shutdown();
    }
    assertThat(record.wrong).isEmpty();
    assertThat(record.failed).isEmpty();
    expected.add(OriginPath.ROOT.toString());
    assertThat(record.entries.keySet()).isEqualTo(expected);
    record.entries.forEach(
        (path, attributes) ->
            assertThat(!attributes.isRegular() || path.endsWith("file" + attributes.size()))
                .as(path)
                .isTrue());
    expected.removeIf(path -> path.contains("file"));
    assertThat(record.complete).isEqualTo(expected);
  }
}
