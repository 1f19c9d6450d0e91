package io.holdfast.it;

import static io.holdfast.it.Content.content;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The origin changes under the mount. A reader gets one version or an error, and after a refresh or
 * the metadata's time-to-live the new version.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Order(1)
class OriginChangesIT {
  /** As in SEMANTICS.md: a writer that pauses for longer has made a version. */
  private static final Duration QUIET = Duration.ofMillis(100);

  private static final Pattern VERSION = Pattern.compile("version[ =](\\d+)");

  private static final Duration READ_DEADLINE = Duration.ofSeconds(60);

  /** How many versions those who read meanwhile have seen when they end. */
  private static final int VERSIONS = 20;

  /** The time-to-live of one second and what a loaded machine may add. */
  private static final Duration NEWS_DEADLINE = Duration.ofSeconds(60);

  private static final List<OriginChange> CHANGES = List.of(OriginChange.values());

  private static final int ITEM_BYTES = 1 << 20;
  private static final int SMALL = 100_000;
  private static final int LARGE = 3 * ITEM_BYTES + 4321;

  @RegisterExtension static final Sandbox SANDBOX = new Sandbox();

  /** Mounts that several tests share, by their options. */
  private static final Map<List<String>, Mount> MOUNTS = new HashMap<>();

  private static int places;

  /** Whether the files were resident or had only passed through before they changed. */
  enum Before {
    RESIDENT,
    PASSED_THROUGH
  }

  /** How the news gets to the mount. */
  enum News {
    REFRESH,
    TIME_TO_LIVE
  }

  static Stream<Arguments> beforeAndNews() {
    return Stream.of(Before.values())
        .flatMap(before -> Stream.of(News.values()).map(news -> Arguments.of(before, news)));
  }

  @ParameterizedTest(name = "{0}, news by {1}")
  @MethodSource("beforeAndNews")
  void changedFiles_ofAllKinds_areNeverMixedAndThenNew(Before before, News news)
      throws IOException {
    Place place = place(before, news);
    long others = pinned(place.mount());
    Dataset dataset = datasetOfChanges(place);
    place.assertReadsAll(SANDBOX, dataset);
    assertThat(place.mount().settledStats().residentBytes() - others)
        .isEqualTo(before == Before.RESIDENT ? dataset.pageBytes() : 0);

    List<Optional<byte[]>> after = changeAll(dataset);
    SoftAssertions soft = new SoftAssertions();
    if (news == News.REFRESH) {
      checkOldOrNew(soft, place, dataset, after);
      place.mount().refresh();
    } else {
      boolean allNew =
          Await.holdsWithin(
              NEWS_DEADLINE,
              () -> {
                checkOldOrNew(soft, place, dataset, after);
                return soft.wasSuccess() && allNew(place, dataset, after);
              });
      soft.assertThat(allNew).as("new versions within the time-to-live").isTrue();
    }
    for (int i = 0; i < dataset.count(); i++) {
      soft.assertThat(outcome(place.path(dataset.files().get(i)), after.get(i)))
          .as("%s of %d bytes", change(i), dataset.size(i))
          .isEqualTo(Outcome.NEW);
    }
    soft.assertAll();
    assertOldPinsReleased(place, dataset, after, before == Before.RESIDENT, others);
  }

  /** Returns the bytes that a mount has pinned, once it has nothing to do. */
  private static long pinned(Mount mount) {
    long resident = mount.settledStats().residentBytes();
    Await.value(NEWS_DEADLINE, "all pinned", mount::lockedBytes, locked -> locked == resident);
    return resident;
  }

  private static void assertOldPinsReleased(
      Place place, Dataset dataset, List<Optional<byte[]>> after, boolean resident, long others) {
    long expected = 0;
    List<String> there = new ArrayList<>();
    for (int i = 0; i < dataset.count(); i++) {
      if (after.get(i).isPresent()) {
        there.add(dataset.files().get(i));
        expected += Dataset.pageBytes(after.get(i).get().length);
      }
    }
    if (!resident) {
      expected = 0;
    }
    assertThat(place.mount().settledStats().residentBytes() - others).isEqualTo(expected);
    assertThat(place.mount().lockedBytes() - others).isEqualTo(expected);
    assertThat(place.mount().cachedBytes(place.ofMount(there))).isEqualTo(expected);
  }

  /**
   * A descriptor cannot tell its reader that the file is another one now; so it must not give bytes
   * of that one.
   */
  @ParameterizedTest
  @EnumSource(Before.class)
  void openDescriptor_fileChangesHalfway_givesOldBytesOrAnError(Before before) throws IOException {
    Place place = place(before, News.REFRESH);
    Dataset dataset = datasetOfChanges(place);
    List<Object> held = new ArrayList<>();
    for (int i = 0; i < dataset.count(); i++) {
      held.addAll(List.of(place.path(dataset.files().get(i)), i));
    }
    Child holder = SANDBOX.startJava(Holder.class, held.toArray());
    int line = 1;
    holder.awaitLine(line, READ_DEADLINE);
    for (int i = 0; i < dataset.count(); i++) {
      holder.tell("read 0 %d %d".formatted(half(dataset, i), i));
      assertThat(holder.awaitLine(++line, READ_DEADLINE)).startsWith("version 1 ");
    }

    changeAll(dataset);
    SoftAssertions soft = new SoftAssertions();
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < dataset.count(); i++) {
        int from = half(dataset, i);
        int length = dataset.size(i) - from;
        String context = "%s of %d bytes, round %d".formatted(change(i), dataset.size(i), round);
        for (String how : List.of("read", "touch")) {
          holder.tell("%s %d %d %d".formatted(how, from, length, i));
          soft.assertThat(holder.awaitLine(++line, READ_DEADLINE))
              .as("%s: %s", how, context)
              .matches("error .*|version 1 length " + length);
        }
      }
      place.mount().refresh();
      for (int i = 0; i < dataset.count(); i++) {
        readQuietly(place.path(dataset.files().get(i)));
      }
    }
    holder.kill();
    soft.assertAll();
  }

  /** Half of the file is resident; reads of it hit pages of the old version, and need others. */
  @Test
  void copyOverLargeFileWithItsTime_halfResident_isNeverMixed() throws IOException {
    Path root = SANDBOX.folder("large");
    int size = 20 * ITEM_BYTES;
    Path file = Files.write(root.resolve("large"), Stamps.bytes(0, 1, 0, size));
    Path other = Files.write(SANDBOX.root().resolve("other"), Stamps.bytes(0, 2, 0, size));
    Files.setLastModifiedTime(file, FileTime.fromMillis(0));
    Files.setLastModifiedTime(other, FileTime.fromMillis(0));
    Mount mount =
        SANDBOX.mount(
            root,
            "--capacity",
            "10M",
            "--item-size",
            "1M",
            "--window",
            "0",
            "--metadata-ttl",
            "1h");
    assertThat(mount.path("large")).has(content(Stamps.bytes(0, 1, 0, size)));
    assertThat(mount.settledStats().residentItems()).isEqualTo(10);
    Child holder = SANDBOX.startJava(Holder.class, mount.path("large"), 0);
    holder.awaitLine(1, READ_DEADLINE);

    SANDBOX.command("cp", "-p", other.toString(), file.toString()).mustSucceed();

    int line = 1;
    for (int length = 64 << 10; length <= size; length *= length < ITEM_BYTES ? 4 : 20) {
      for (long at : new long[] {0, (long) (size - length) / 8192 * 4096, size - length}) {
        String whole = "error .*|version [12] length " + length;
        holder.tell("read %d %d".formatted(at, length));
        assertThat(holder.awaitLine(++line, READ_DEADLINE)).matches(whole);
        holder.tell("touch %d %d".formatted(at, length));
        assertThat(holder.awaitLine(++line, READ_DEADLINE)).matches(whole);
      }
    }
    mount.refresh();
    assertThat(mount.path("large")).has(content(Stamps.bytes(0, 2, 0, size)));
    holder.tell("read 0 " + size);
    assertThat(holder.awaitLine(++line, READ_DEADLINE)).matches("error .*|version 1 .*");
  }

  /** On ext4, inode numbers come back in the order in which they went. */
  @ParameterizedTest
  @EnumSource(News.class)
  void archiveUnpackedAgain_sameSizesAndTimes_isReadAnew(News news) throws IOException {
    Place place = place(Before.RESIDENT, news);
    for (int version = 1; version <= 2; version++) {
      Path directory = place.origin().resolve("d");
      SANDBOX.command("rm", "-rf", directory.toString()).mustSucceed();
      Files.createDirectory(directory);
      for (int i = 0; i < 50; i++) {
        Path file = directory.resolve("f" + i);
        Files.write(file, Stamps.bytes(i, version, 0, 5000));
        Files.setLastModifiedTime(file, FileTime.fromMillis(0));
      }
      if (version == 2 && news == News.REFRESH) {
        place.mount().refresh();
      }
      for (int i = 0; i < 50; i++) {
        Optional<byte[]> now = Optional.of(Stamps.bytes(i, version, 0, 5000));
        Path file = place.path("d/f" + i);
        Await.value(
            news == News.REFRESH ? Duration.ZERO : NEWS_DEADLINE,
            "version " + version + " of " + file,
            () -> outcome(file, now),
            outcome -> outcome == Outcome.NEW);
      }
    }
  }

  private static int half(Dataset dataset, int i) {
    return dataset.size(i) / 2 / Stamps.RECORD * Stamps.RECORD;
  }

  /**
   * A writer makes one version after the other while readers read: in place, or by putting a new
   * file there. If it had to wait for a processor in the middle for longer than the quiet time, it
   * has made a version that is half old and half new.
   */
  @Tag(Sandbox.ANY_BINDING)
  @ParameterizedTest(name = "replaced whole: {0}")
  @ValueSource(booleans = {true, false})
  void fetch_fileChangesMeanwhile_neverMixesVersions(boolean replacedWhole) throws IOException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    Place place = place("--capacity", "64M", "--item-size", "1M", "--metadata-ttl", "50ms");
    Path file = place.origin().resolve("hot");
    int size = 6 * ITEM_BYTES;
    Files.write(file, Stamps.bytes(0, 1, 0, size));
    List<Child> readers = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      readers.add(SANDBOX.startJava(Rereader.class, place.path("hot"), 0, VERSIONS));
    }

    long version = 2;
    Set<Long> interrupted = new HashSet<>();
    long end = System.nanoTime() + READ_DEADLINE.toNanos();
    while (readers.stream().anyMatch(Child::isAlive) && System.nanoTime() < end) {
      byte[] bytes = Stamps.bytes(0, version, 0, size);
      long began = System.nanoTime();
      write(file, bytes, replacedWhole);
      if (!replacedWhole && System.nanoTime() - began > QUIET.toNanos()) {
        interrupted.add(version);
      }
      version++;
      Await.holdsWithin(Duration.ofMillis(random.nextInt(250)), () -> false);
    }

    for (Child reader : readers) {
      Child.Result result = reader.await(READ_DEADLINE);
      System.out.printf(
          "%d versions written, %s with an interruption; reader: %s",
          version, interrupted, result.out());
      Set<Long> mixed = newerOfMixed(result.err());
      assertThat(interrupted).as("%s, seed %d", result, seed).containsAll(mixed);
      assertThat(result.exit() == 0).as("%s", result).isEqualTo(mixed.isEmpty());
    }
    assertServesVersion(place, version - 1, size);
  }

  /** Returns, for each pass that was mixed, the newer one of its versions. */
  private static Set<Long> newerOfMixed(String lines) {
    return lines
        .lines()
        .filter(line -> !line.isEmpty())
        .map(
            line ->
                VERSION
                    .matcher(line)
                    .results()
                    .mapToLong(found -> Long.parseLong(found.group(1)))
                    .max()
                    .orElseThrow(() -> new AssertionError(line)))
        .collect(Collectors.toSet());
  }

  private static void assertServesVersion(Place place, long version, int size) {
    Await.value(
        NEWS_DEADLINE,
        "the last version",
        () -> outcome(place.path("hot"), Optional.of(Stamps.bytes(0, version, 0, size))),
        outcome -> outcome == Outcome.NEW);
  }

  private static void write(Path file, byte[] bytes, boolean replaceWhole) throws IOException {
    if (replaceWhole) {
      OriginChange.replace(file, bytes);
      return;
    }
    try (FileChannel channel = FileChannel.open(file, WRITE)) {
      ByteBuffer buffer = ByteBuffer.wrap(bytes);
      for (int at = 0; at < bytes.length; at += 64 << 10) {
        buffer.limit(Math.min(bytes.length, at + (64 << 10)));
        channel.write(buffer);
      }
    }
  }

  /** One small and one large file for each kind of change. */
  private static Dataset datasetOfChanges(Place place) {
    return Dataset.create(
        place.origin(), 2 * CHANGES.size(), i -> i < CHANGES.size() ? SMALL : LARGE);
  }

  private static OriginChange change(int index) {
    return CHANGES.get(index % CHANGES.size());
  }

  private static List<Optional<byte[]>> changeAll(Dataset dataset) throws IOException {
    List<Optional<byte[]>> after = new ArrayList<>();
    for (int i = 0; i < dataset.count(); i++) {
      after.add(change(i).apply(dataset.file(i), i, dataset.size(i)));
    }
    return after;
  }

  private static Place place(Before before, News news) {
    return place(
        "--capacity",
        "256M",
        "--policy",
        before == Before.RESIDENT ? "minio" : "none",
        "--window",
        "0",
        "--item-size",
        Integer.toString(ITEM_BYTES),
        "--metadata-ttl",
        news == News.REFRESH ? "1h" : "1s");
  }

  private static Place place(String... options) {
    Mount mount =
        MOUNTS.computeIfAbsent(
            List.of(options),
            given -> SANDBOX.mount(SANDBOX.folder("origin" + MOUNTS.size()), options));
    return Place.create(mount, "place" + places++);
  }

  /** The result of a whole pass over a file. */
  enum Outcome {
    OLD,
    NEW,
    ERROR,
    WRONG
  }

  /**
   * Reads a file and compares it with what the origin has now, or tells that all of it is of the
   * first version.
   */
  private static Outcome outcome(Path path, Optional<byte[]> now) {
    byte[] bytes;
    try {
      bytes = Files.readAllBytes(path);
    } catch (NoSuchFileException e) {
      return now.isEmpty() ? Outcome.NEW : Outcome.ERROR;
    } catch (IOException e) {
      return Outcome.ERROR;
    }
    if (now.isPresent() && Arrays.equals(bytes, now.get())) {
      return Outcome.NEW;
    }
    long stamp =
        bytes.length < 8 ? -1 : ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
    boolean old =
        Arrays.equals(bytes, Stamps.bytes(stamp, 1, 0, bytes.length))
            && (bytes.length == SMALL || bytes.length == LARGE);
    return old ? Outcome.OLD : Outcome.WRONG;
  }

  private static void checkOldOrNew(
      SoftAssertions soft, Place place, Dataset dataset, List<Optional<byte[]>> after) {
    for (int i = 0; i < dataset.count(); i++) {
      soft.assertThat(outcome(place.path(dataset.files().get(i)), after.get(i)))
          .as("before the news: %s of %d bytes", change(i), dataset.size(i))
          .isIn(Outcome.OLD, Outcome.NEW, Outcome.ERROR);
    }
  }

  private static boolean allNew(Place place, Dataset dataset, List<Optional<byte[]>> after) {
    for (int i = 0; i < dataset.count(); i++) {
      if (outcome(place.path(dataset.files().get(i)), after.get(i)) != Outcome.NEW) {
        return false;
      }
    }
    return true;
  }

  private static void readQuietly(Path path) {
    try {
      Files.readAllBytes(path);
    } catch (NoSuchFileException e) {
      // Deleted, as some are.
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
