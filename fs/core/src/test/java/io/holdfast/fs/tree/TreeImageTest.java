package io.holdfast.fs.tree;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsException;
import io.holdfast.fs.Seeds;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.FakeOrigin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TreeImageTest {
  private static final String DATASET = "/data/é, inode 2 of device 2049";
  private static final UUID BOOT = new UUID(7, 8);
  private static final Moment NOW = new Moment(5_000_000_000L, 1_800_000_000_000_000_123L, BOOT);

  @TempDir private Path directory;

  private Path file() {
    return directory.resolve("x.tree");
  }

  /** An entry, its directory by the place that it has among the entries; -1 for the root. */
  private record Row(int directory, String name, Attributes attributes, long listed) {}

  /** Returns the entries of a tree, in its order; first the root, a row with only its listing. */
  private static List<Row> rows(NodeTable nodes, Map<Long, Long> listed) {
    List<Row> rows = new ArrayList<>();
    Map<Long, Integer> places = new HashMap<>();
    rows.add(new Row(-1, "", ImageRecords.NOTHING, listed.getOrDefault(Tree.ROOT, 0L)));
    places.put(Tree.ROOT, -1);
    nodes.forEach(
        id -> {
          if (id != Tree.ROOT && !nodes.isStale(id)) {
            int directory = Objects.requireNonNull(places.get(nodes.parent(id)));
            String name = HexFormat.of().formatHex(nodes.name(id));
            places.put(id, rows.size());
            rows.add(new Row(directory, name, nodes.attributes(id), listed.getOrDefault(id, 0L)));
          }
        });
    return rows;
  }

  private static List<Row> read(Path file) throws IOException, FsException {
    try (NodeTable nodes = root();
        TreeImage image = TreeImage.open(file, DATASET)) {
      Map<Long, Long> listed = new HashMap<>();
      image.read(
          new TreeImage.Sink() {
            @Override
            public long entry(long directory, byte[] name, Attributes attributes)
                throws FsException {
              return nodes.add(directory, name, attributes);
            }

            @Override
            public void listed(long directory, long at, long changed) {
              assertThat(changed).isEqualTo(changed(at));
              listed.put(directory, at);
            }
          });
      List<Row> rows = rows(nodes, listed);
      assertThat(image.entries()).isEqualTo(rows.size() - 1);
      return rows;
    }
  }

  private static NodeTable root() throws FsException {
    NodeTable nodes = new NodeTable(GrowingMemory.ofProcess("test"));
    nodes.add(0, new byte[0], attributes(Attributes.DIRECTORY, 1));
    return nodes;
  }

  private static Attributes attributes(int type, long seed) {
    return new Attributes(
        type | 0644, 1, 1000, -2, 0, 7 * seed, 100_000 + seed, 196, 5, 6 + seed, 7 + seed, "");
  }

  /** Returns attributes that an origin might tell; mostly like those of the file before. */
  private static Attributes attributes(Random random, int type, Attributes before) {
    boolean same = random.nextInt(3) != 0;
    long modified = random.nextBoolean() ? random.nextLong() : before.modified() + 1;
    boolean oneTime = random.nextBoolean();
    long inode =
        random.nextBoolean() ? random.nextLong() >>> random.nextInt(64) : before.inode() + 1;
    return new Attributes(
        type | (same ? before.mode() & 0xfff : random.nextInt(0x1000)),
        same ? before.links() : random.nextInt(),
        same ? before.uid() : random.nextInt(),
        same ? before.gid() : random.nextInt(),
        random.nextInt(5) == 0 ? random.nextLong() : 0,
        inode,
        random.nextLong() >>> (1 + random.nextInt(63)),
        random.nextBoolean() ? random.nextLong() : random.nextInt(1000),
        oneTime ? modified : random.nextLong(),
        modified,
        oneTime ? modified : random.nextLong(),
        random.nextInt(3) == 0 ? "e".repeat(random.nextInt(256)) : "",
        inode >>> Integer.SIZE == 0 ? random.nextInt() : 0,
        same ? before.acl() : random.nextInt(0x10000));
  }

  private static byte[] name(Random random, int number) {
    byte[] name = new byte[random.nextInt(random.nextInt(50) == 0 ? 1000 : 30) + 8];
    random.nextBytes(name);
    for (int i = 0; i < name.length; i++) {
      name[i] = name[i] == 0 || name[i] == '/' ? (byte) 'x' : name[i];
    }
    byte[] end = Integer.toHexString(number | 1 << 30).getBytes(UTF_8);
    System.arraycopy(end, 0, name, name.length - end.length, end.length);
    return name;
  }

  private static final int[] TYPES = {
    Attributes.REGULAR, Attributes.REGULAR, Attributes.DIRECTORY, Attributes.SYMLINK, 0x1000
  };

  /** Fills a table with a random tree; returns when its directories were listed. */
  private static Map<Long, Long> fill(NodeTable nodes, Random random, int count)
      throws FsException {
    List<Long> directories = new ArrayList<>(List.of(Tree.ROOT));
    Map<Long, Long> listed = new HashMap<>();
    Attributes before = ImageRecords.NOTHING;
    for (int i = 0; i < count; i++) {
      int from = random.nextInt(4) == 0 ? 0 : Math.max(0, directories.size() - 3);
      long parent = directories.get(from + random.nextInt(directories.size() - from));
      before = attributes(random, TYPES[random.nextInt(TYPES.length)], before);
      long id = nodes.add(parent, name(random, i), before);
      if (before.isDirectory()) {
        directories.add(id);
      }
      if (random.nextInt(20) == 0) {
        nodes.markStale(id);
        if (before.isDirectory()) {
          directories.remove(id);
        }
      }
    }
    for (long id : directories) {
      if (random.nextBoolean()) {
        listed.put(id, 1 + (random.nextLong() >>> 1));
      }
    }
    return listed;
  }

  private static ListingTimes listings(Map<Long, Long> listed) {
    return listings(id -> listed.getOrDefault(id, 0L));
  }

  private static ListingTimes listings(LongUnaryOperator listedAt) {
    return new ListingTimes() {
      @Override
      public long listedAt(long directory) {
        return listedAt.applyAsLong(directory);
      }

      @Override
      public long listedChanged(long directory) {
        return changed(listedAt(directory));
      }
    };
  }

  /** A time for a time, which tells them apart. */
  private static long changed(long listedAt) {
    return 31 * listedAt;
  }

  @Test
  void read_anyTree_isWhatWasWritten() throws Exception {
    Random random = new Random(Seeds.next("read_anyTree"));
    for (int round = 0; round < 30; round++) {
      int count = round == 0 ? 20_000 : random.nextInt(60);
      try (NodeTable nodes = root()) {
        Map<Long, Long> listed = fill(nodes, random, count);
        long length = TreeImage.write(file(), DATASET, NOW, nodes, listings(listed));
        assertThat(file()).hasSize(length);
        assertThat(read(file())).isEqualTo(rows(nodes, listed));
      }
    }
  }

  private static NodeTable small() throws FsException {
    NodeTable nodes = root();
    long a = nodes.add(Tree.ROOT, "a".getBytes(UTF_8), attributes(Attributes.DIRECTORY, 2));
    nodes.markStale(nodes.add(a, "gone".getBytes(UTF_8), attributes(Attributes.REGULAR, 3)));
    nodes.add(a, "b".getBytes(UTF_8), attributes(Attributes.REGULAR, 4));
    nodes.add(
        Tree.ROOT,
        "é".getBytes(UTF_8),
        new Attributes(0x8180, 2, 0, 0, 259, 30, 1L << 40, 0, -1, -1, -1, "etag", -9, 0x13ff));
    return nodes;
  }

  private static ListingTimes someListed() {
    return listings(id -> id == Tree.ROOT ? 1_799_999_999_000_000_000L : 0);
  }

  /**
   * The layout of files that are out there. When this fails because the layout is another one now,
   * {@link TreeImage#VERSION} must be another, too, here and there.
   */
  @Test
  void write_smallTree_givesTheBytesOfThisVersion() throws Exception {
    try (NodeTable nodes = small()) {
      TreeImage.write(file(), DATASET, NOW, nodes, someListed());
    }
    assertThat(TreeImage.VERSION).isEqualTo(3);
    assertThat(HexFormat.of().formatHex(Files.readAllBytes(file())))
        .isEqualTo(
            """
            68662d747265650a0300000064000000030000000000000071000000000000007b00b49376e2fa1\
            800f2052a01000000070000000000000008000000000000002f646174612fc3a92c20696e6f6465\
            2032206f66206465766963652032303439888016cc69000000816f9df5010161a4830101e807fef\
            fffff0f00a28d061c0010050200010162a4830201e807feffffff0f00a48d061c000409025c0002\
            c3a9808302020000ff2780808080802004ffffffff0f1583020465746167f7ffffff0f200080d8c\
            981cb9df1fa3180a8ecb09595b6e10c\
            """);
  }

  @Test
  void open_anyBitFlipped_isRefused() throws Exception {
    try (NodeTable nodes = small()) {
      TreeImage.write(file(), DATASET, NOW, nodes, someListed());
    }
    byte[] good = Files.readAllBytes(file());
    for (int bit = 0; bit < 8 * good.length; bit++) {
      assertRefused(flipped(good, bit), "bit " + bit);
    }
    for (int length = 0; length < good.length; length++) {
      assertRefused(Arrays.copyOf(good, length), "cut to " + length);
    }
    assertRefused(Arrays.copyOf(good, good.length + 1), "a byte more");
    Files.write(file(), good);
    assertThat(read(file())).hasSize(4);
  }

  private static byte[] flipped(byte[] bytes, int bit) {
    byte[] flipped = bytes.clone();
    flipped[bit / 8] ^= (byte) (1 << bit % 8);
    return flipped;
  }

  private void assertRefused(byte[] bytes, String what) throws IOException {
    Files.write(file(), bytes);
    assertThatThrownBy(() -> TreeImage.open(file(), DATASET).close())
        .as(what)
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("it");
  }

  @Test
  void open_largeImageDamagedAnywhere_isRefused() throws Exception {
    Random random = new Random(Seeds.next("open_largeImage"));
    try (NodeTable nodes = root()) {
      Map<Long, Long> listed = fill(nodes, random, 20_000);
      TreeImage.write(file(), DATASET, NOW, nodes, listings(listed));
    }
    byte[] good = Files.readAllBytes(file());
    assertThat(good.length).as("several blocks").isGreaterThan(4 * BlockOutput.LONGEST);
    for (int i = 0; i < 30; i++) {
      int bit = random.nextInt(8 * good.length);
      assertRefused(flipped(good, bit), "bit " + bit);
      int length = random.nextInt(good.length);
      assertRefused(Arrays.copyOf(good, length), "cut to " + length);
    }
  }

  /** Each block is right by itself, but not there. */
  @Test
  void open_blockOfAnotherImage_isRefused() throws Exception {
    byte[] first;
    try (NodeTable nodes = small()) {
      TreeImage.write(file(), DATASET, NOW, nodes, someListed());
      first = Files.readAllBytes(file());
      TreeImage.write(
          file(), DATASET, new Moment(NOW.steady(), NOW.ofDay() + 1, BOOT), nodes, someListed());
    }
    byte[] mixed = Files.readAllBytes(file());
    int header = mixed[TreeImage.LENGTH_AT];
    System.arraycopy(first, header, mixed, header, mixed.length - header);
    assertRefused(mixed, "block of another image");
  }

  @Test
  void open_anotherVersionOrDataset_saysSo() throws Exception {
    try (NodeTable nodes = small()) {
      TreeImage.write(file(), DATASET, NOW, nodes, someListed());
    }
    assertThatThrownBy(() -> TreeImage.open(file(), "/data/other").close())
        .hasMessage("it is of another dataset, " + DATASET);
    byte[] bytes = Files.readAllBytes(file());
    bytes[TreeImage.VERSION_AT] = 99;
    Files.write(file(), bytes);
    assertThatThrownBy(() -> TreeImage.open(file(), DATASET).close())
        .hasMessage("it has version 99, and this is " + TreeImage.VERSION);
    assertThatThrownBy(() -> TreeImage.open(directory.resolve("missing"), DATASET).close())
        .isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void write_overAnother_leavesOneFileForItsOwnerOnly() throws Exception {
    Files.writeString(file(), "something else");
    Files.writeString(directory.resolve("x.tree.new"), "of one that was killed");
    try (NodeTable nodes = small()) {
      TreeImage.write(file(), DATASET, NOW, nodes, someListed());
    }
    try (var files = Files.list(directory)) {
      assertThat(files).containsExactly(file());
    }
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file())))
        .isEqualTo("rw-------");
    try (TreeImage image = TreeImage.open(file(), DATASET)) {
      assertThat(image.written()).isEqualTo(NOW);
    }
  }

  /**
   * Entries that were replaced meanwhile may be missing in the image, so no directory in it is
   * whole.
   */
  @Test
  void write_treeThatChanges_hasNothingListedWhole() throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    CountDownLatch changing = new CountDownLatch(1);
    ExecutorService other = Executors.newSingleThreadExecutor();
    try (NodeTable nodes = root()) {
      fill(nodes, new Random(1), 20_000);
      Future<?> changes =
          other.submit(
              () -> {
                byte[] name = "new".getBytes(UTF_8);
                while (!done.get()) {
                  nodes.markStale(nodes.add(Tree.ROOT, name, attributes(Attributes.REGULAR, 1)));
                  changing.countDown();
                }
                return null;
              });
      changing.await();
      TreeImage.write(file(), DATASET, NOW, nodes, listings(id -> 5));
      done.set(true);
      changes.get();
    } finally {
      done.set(true);
      other.shutdown();
      assertThat(other.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(read(file()))
        .hasSizeGreaterThan(10_000)
        .allSatisfy(row -> assertThat(row.listed()).isZero());
  }

  @Test
  void write_treeOnAnOrigin_isKnownToTheNext() throws Exception {
    FakeOrigin origin = new FakeOrigin();
    origin.file("a/kept", new byte[3]);
    origin.file("a/changed", new byte[3]);
    origin.file("a/gone", new byte[3]);
    List<String> replaced = new ArrayList<>();
    try (NodeTable nodes = new NodeTable(GrowingMemory.ofProcess("test"))) {
      Tree tree = new Tree(origin, nodes, old -> {});
      Node a = tree.lookup(tree.root(), "a".getBytes(UTF_8));
      for (String name : List.of("kept", "changed", "gone")) {
        tree.lookup(a, name.getBytes(UTF_8));
      }
      nodes.setListed(a.id(), 1000, 77);
      tree.write(file(), DATASET, new Moment(1500, 2000, BOOT));
    }
    origin.remove("a/gone");
    origin.file("a/changed", new byte[4]);
    try (NodeTable nodes = new NodeTable(GrowingMemory.ofProcess("test"));
        TreeImage image = TreeImage.open(file(), DATASET)) {
      Tree tree = new Tree(origin, nodes, old -> replaced.add(old.path().toString()));
      tree.loaded(image, new Moment(3000, 2700, new UUID(7, 9)));
      assertThat(tree.size()).isEqualTo(5);
      Node a = tree.known(tree.root(), "a".getBytes(UTF_8));
      assertThat(a).isNotNull();
      assertThat(tree.listedAt(a)).as("by the clock of another boot").isEqualTo(1800);
      assertThat(nodes.listedChanged(a.id())).isEqualTo(77);
      assertThat(tree.listedAt(tree.root())).isZero();
      Node kept = tree.known(a, "kept".getBytes(UTF_8));
      Node changed = tree.known(a, "changed".getBytes(UTF_8));
      assertThat(tree.lookup(a, "kept".getBytes(UTF_8))).isEqualTo(kept);
      assertThat(tree.lookup(a, "changed".getBytes(UTF_8))).isNotEqualTo(changed);
      assertThatThrownBy(() -> tree.lookup(a, "gone".getBytes(UTF_8)))
          .isInstanceOf(FsException.class);
      assertThat(replaced).containsExactly("a/changed", "a/gone");
      assertThat(tree.size()).isEqualTo(4);
    }
  }

  @Test
  void loaded_clockSetSinceItWasWritten_isAsOldAsItIs() throws Exception {
    FakeOrigin origin = new FakeOrigin();
    origin.file("a/b", new byte[3]);
    try (NodeTable nodes = new NodeTable(GrowingMemory.ofProcess("test"))) {
      Tree tree = new Tree(origin, nodes, old -> {});
      nodes.setListed(tree.lookup(tree.root(), "a".getBytes(UTF_8)).id(), 1000, 77);
      tree.write(file(), DATASET, new Moment(1500, 2_000_000, BOOT));
    }
    try (NodeTable nodes = new NodeTable(GrowingMemory.ofProcess("test"));
        TreeImage image = TreeImage.open(file(), DATASET)) {
      Tree tree = new Tree(origin, nodes, old -> {});
      tree.loaded(image, new Moment(1600, 1_000_000, BOOT));
      Node a = tree.known(tree.root(), "a".getBytes(UTF_8));
      assertThat(a).isNotNull();
      assertThat(tree.listedAt(a)).isEqualTo(1000);
    }
  }
}
