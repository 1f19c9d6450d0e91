package io.holdfast.fs.peers;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.Sandbox;
import io.holdfast.fs.origin.DelegatingOrigin;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.posix.PosixOrigin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The datasets that sketches tell apart, and the cost of sketches. */
final class SketchMakerTest {
  private static final int FILES = 200;
  private static final int BYTES = 20_000;

  private final AtomicInteger listings = new AtomicInteger();
  private final AtomicInteger opened = new AtomicInteger();

  /** How many files cannot be read from now on. */
  private int unreadable;

  private Sandbox sandbox;

  @BeforeEach
  void create() throws IOException {
    sandbox = Sandbox.create();
  }

  @AfterEach
  void close() throws IOException {
    sandbox.close();
  }

  private Path tree(String name, int seed) throws IOException {
    Path root = sandbox.path(name);
    Random random = new Random(seed);
    for (int i = 0; i < FILES; i++) {
      byte[] bytes = new byte[BYTES];
      random.nextBytes(bytes);
      write(root.resolve("class-" + i % 7 + "/part-" + i % 3 + "/" + i), bytes);
    }
    return root;
  }

  private static void write(Path file, byte[] bytes) throws IOException {
    Files.createDirectories(file.getParent());
    Files.write(file, bytes);
    Files.setLastModifiedTime(file, FileTime.fromMillis(1_700_000_000_000L));
  }

  private <T> T with(Path root, Use<T> use) throws FsException {
    try (Origin origin =
        new Counted(PosixOrigin.open(root, () -> Instant.now().plus(Duration.ofHours(1))))) {
      return use.of(new SketchMaker(origin, System::nanoTime));
    }
  }

  private interface Use<T> {
    T of(SketchMaker maker) throws FsException;
  }

  private DatasetSketch sketch(Path root) throws FsException {
    return with(root, SketchMaker::make);
  }

  /**
   * Compares like the node that has {@code own} with the sketch of the node that has {@code other}.
   */
  private Comparison compare(Path own, Path other) throws FsException {
    DatasetSketch theirs = DatasetSketch.parse(sketch(other).toString());
    return with(own, maker -> maker.compare(maker.make(), theirs));
  }

  private static void assertOne(Comparison comparison) {
    assertThat(comparison.isOfOneDataset()).as("%s", comparison).isTrue();
  }

  private static void assertTwo(Comparison comparison, String difference) {
    assertThat(comparison.isOfOneDataset()).as("%s", comparison).isFalse();
    assertThat(comparison.difference()).contains(difference);
  }

  @Test
  void compare_sameStore_isOneDatasetInOnePlace() throws IOException {
    Path here = tree("here", 0);
    Comparison comparison = compare(here, here);
    assertOne(comparison);
    assertThat(comparison.shared()).isTrue();
    assertThat(comparison.files()).isGreaterThan(16);
    assertThat(sketch(here).mark()).isEqualTo(sketch(here).mark()).hasSize(43);
  }

  @Test
  void compare_copy_isOneDatasetInTwoPlaces() throws IOException {
    Path here = tree("here", 0);
    Path there = tree("there", 0);
    Comparison comparison = compare(here, there);
    assertOne(comparison);
    assertThat(comparison.shared()).isFalse();
    assertThat(comparison.same()).isEqualTo(comparison.files());
  }

  /** Only bytes tell the datasets apart. */
  @Test
  void compare_sameNamesSizesAndTimesButOtherBytes_isAnotherDataset() throws Exception {
    Path here = tree("here", 0);
    Path other = tree("other", 1);
    assertTwo(compare(here, other), "have the same size and time but other bytes, such as 'class-");
    assertTwo(compare(other, here), "have the same size and time but other bytes, such as 'class-");
  }

  @Test
  void compare_otherNames_isAnotherDataset() throws Exception {
    Path here = tree("here", 0);
    Path other = sandbox.path("other");
    for (int i = 0; i < FILES; i++) {
      write(other.resolve("x" + i), new byte[] {1});
    }
    assertTwo(compare(here, other), "are missing here or have another size or time");
  }

  /** Nodes look at different times, and a dataset may be worked at: versions see to that. */
  @ParameterizedTest
  @ValueSource(ints = {1, 5, 20})
  void compare_someFilesChangedAddedAndGone_isOneDataset(int changes) throws Exception {
    Path here = tree("here", 0);
    Path there = tree("there", 0);
    Random random = new Random(changes);
    for (int i = 0; i < changes; i++) {
      int number = random.nextInt(FILES);
      Path file = there.resolve("class-" + number % 7 + "/part-" + number % 3 + "/" + number);
      Files.writeString(file, "changed " + i);
      Files.writeString(file.resolveSibling("added-" + i), "new");
    }
    Files.createDirectory(there.resolve("another-directory"));
    assertOne(compare(here, there));
    assertOne(compare(there, here));
  }

  @Test
  void compare_nothingThere_isNotKnown() throws Exception {
    Path here = tree("here", 0);
    Path empty = Files.createDirectory(sandbox.path("empty"));
    assertThat(compare(here, empty).files()).isZero();
    assertThat(compare(empty, here).isOfOneDataset()).isFalse();
  }

  /** Such as one with a sector that cannot be read any more. */
  @Test
  void compare_aFewFilesCannotBeRead_goesByTheOthers() throws Exception {
    Path here = tree("here", 0);
    Path there = tree("there", 0);
    unreadable = 5;
    assertOne(compare(there, here));
    Path other = tree("other", 1);
    unreadable = 5;
    assertTwo(compare(other, here), "have the same size and time but other bytes");
  }

  @Test
  void make_noFileCanBeRead_fails() throws IOException {
    Path here = tree("here", 0);
    unreadable = Integer.MAX_VALUE;
    assertThatThrownBy(() -> sketch(here)).hasMessageContaining("for the test");
  }

  /** The order of a listing is the store's. */
  @Test
  void make_flatDirectoryOfMany_looksAtSomeOfItsEntriesAndAFewFiles() throws Exception {
    Path flat = Files.createDirectory(sandbox.path("flat"));
    for (int i = 0; i < 5000; i++) {
      Files.createFile(flat.resolve("empty-" + i));
    }
    write(flat.resolve("deeper/file"), new byte[] {1});
    long before = opened.get();
    DatasetSketch made = sketch(flat);
    assertThat(listings).hasValueLessThanOrEqualTo(2);
    assertThat(made.samples().size()).isLessThanOrEqualTo(1);
    assertThat(opened.get() - before).isLessThanOrEqualTo(2);
  }

  @Test
  void make_deepAndWideTree_isBounded() throws Exception {
    Path wide = sandbox.path("wide");
    for (int i = 0; i < 1000; i++) {
      write(wide.resolve(i % 10 + "/" + i % 100 + "/" + i + "/a/b/c/" + i), new byte[100]);
    }
    DatasetSketch made = sketch(wide);
    assertThat(listings).hasValueLessThanOrEqualTo(64);
    assertThat(made.samples()).hasSizeBetween(4, 32);
    assertThat(opened.get()).isLessThanOrEqualTo(2 * 32);
    assertThat(made.toString().length()).isLessThan(8 << 10);
  }

  @Test
  void parse_namesOfAllBytes_areThoseThatWereTold() throws Exception {
    Path odd = sandbox.path("odd");
    write(odd.resolve("a b%\n\u001b[31m/ü"), "x".getBytes(UTF_8));
    DatasetSketch made = sketch(odd);
    assertThat(DatasetSketch.parse(made.toString())).isEqualTo(made);
    assertThat(made.toString()).matches("[\\x20-\\x7e\\n]*").hasLineCount(2);
    assertOne(compare(odd, odd));
  }

  private final class Counted extends DelegatingOrigin {
    Counted(Origin origin) {
      super(origin);
    }

    @Override
    public void list(OriginPath path, EntrySink sink) throws FsException {
      listings.incrementAndGet();
      super.list(path, sink);
    }

    @Override
    public io.holdfast.fs.origin.OriginFile open(OriginPath path, Part part) throws FsException {
      opened.incrementAndGet();
      if (unreadable > 0) {
        unreadable--;
        throw new FsException(FsError.IO, path + ": for the test");
      }
      return super.open(path, part);
    }
  }
}
