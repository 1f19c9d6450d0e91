package io.holdfast.it;

import static io.holdfast.it.Content.content;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.posix.RawPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A mount that believes names for an hour shows the origin as it is after a refresh. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Order(1)
class RefreshIT {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final int SMALL = 100_000;
  private static final int MANY_NAMES = 10_000;

  /** Names of which a daemon notes that they are missing. */
  private static final int MOST_MISSING = 100_000;

  @RegisterExtension static final Sandbox SANDBOX = new Sandbox();

  private static Mount mount;

  @BeforeAll
  static void mount() {
    mount = SANDBOX.mount(SANDBOX.folder("origin"), "--capacity", "64M", "--metadata-ttl", "1h");
  }

  /**
   * A user had asked for so many names that the daemon had forgotten some; a listing had others.
   * The daemon tells the kernel of each name as it does in the other tests, in which both bindings
   * do so.
   */
  @Tag(Sandbox.ANY_BINDING)
  @Test
  void refresh_manyNamesWereMissing_showsThoseThatAppeared() throws IOException {
    Place place = Place.create(mount, "many");
    for (int i = 0; i < MOST_MISSING + MANY_NAMES; i++) {
      assertThat(Files.exists(place.path("n" + i))).isFalse();
    }
    List<String> appeared = new ArrayList<>();
    for (int i = 0; i < MANY_NAMES; i += 100) {
      appeared.add("n" + (MOST_MISSING + i));
      Files.createFile(place.origin().resolve("n" + (MOST_MISSING + i)));
    }
    SANDBOX.command("ls", "-U", place.root().toString()).mustSucceed();

    mount.refresh();

    assertThat(appeared).allMatch(name -> Files.exists(place.path(name)));
  }

  /** Java asks for that before it reads past the page cache. */
  @Test
  void openDescriptor_fileWasReplaced_hasFiguresOfItsFileSystem() throws IOException {
    Place place = Place.create(mount, "replaced");
    Path root = place.origin();
    Files.writeString(root.resolve("file"), "one");
    Path file = place.path("file");
    String program = "exec 3<\"$0\"; echo open; read go; stat -f -c '%b blocks' /proc/self/fd/3";
    Child holder = SANDBOX.start("sh", "-c", program, file.toString());
    holder.awaitLine(1, DEADLINE);
    Files.writeString(root.resolve("next"), "another");
    Files.move(root.resolve("next"), root.resolve("file"), REPLACE_EXISTING);
    mount.refresh();
    assertThat(file).hasContent("another");

    holder.tell("go");

    assertThat(holder.await(DEADLINE).mustSucceed().out()).containsPattern("[1-9]\\d* blocks");
  }

  /**
   * Once the daemon kept names that have gone until the mount ended, even those that nobody asks
   * for again.
   */
  @Test
  void directory_entriesComeAndGo_showsThemAfterARefreshAndForgetsThem() throws IOException {
    Place place = Place.create(mount, "entries");
    Dataset dataset = Dataset.create(place.origin(), 20, i -> SMALL);
    Path fresh = place.path("class_new/fresh.jpg");
    assertThat(fresh).doesNotExist();
    long others = mount.settledStats().residentBytes();
    place.assertReadsAll(SANDBOX, dataset);

    Files.createDirectory(dataset.root().resolve("class_new"));
    Files.write(dataset.root().resolve("class_new/fresh.jpg"), Stamps.bytes(77, 1, 0, SMALL));
    SANDBOX.command("rm", "-r", dataset.root().resolve("class_03").toString()).mustSucceed();
    mount.refresh();

    assertThat(fresh).has(content(Stamps.bytes(77, 1, 0, SMALL)));
    try (Stream<Path> names = Files.list(place.root())) {
      assertThat(names.map(path -> path.getFileName().toString()))
          .contains("class_new")
          .doesNotContain("class_03");
    }
    assertThatThrownBy(() -> Files.size(place.path("class_03/img_00003.jpg")))
        .isInstanceOf(NoSuchFileException.class);
    Await.value(
        DEADLINE,
        "the pins of what was deleted released",
        () -> mount.stats().residentBytes(),
        bytes -> bytes - others == (dataset.count() - 2 + 1) * Dataset.pageBytes(SMALL));
    long namesBefore = mount.stats().number("dataset.names");

    for (int i = 0; i < MANY_NAMES; i++) {
      Path passing = Files.createFile(dataset.root().resolve("passing" + i));
      assertThat(Files.exists(place.path("passing" + i))).isTrue();
      Files.delete(passing);
    }
    Await.value(
        DEADLINE,
        "names that have gone forgotten",
        () -> mount.stats().number("dataset.names"),
        names -> names < namesBefore + MANY_NAMES / 2);
    assertThat(fresh).hasSize(SMALL);
  }

  /**
   * Also a directory in which nobody has looked anything up, so that libfuse's number of it is not
   * known.
   */
  @Test
  void refresh_ofADirectoryThatWasOnlyLookedAt_showsItAsItIs() throws IOException {
    Path directory =
        Files.createDirectory(Place.create(mount, "above").origin().resolve("looked-at"));
    Path shown = mount.path("above/looked-at");
    assertThat(Files.getLastModifiedTime(shown)).isEqualTo(Files.getLastModifiedTime(directory));
    Files.setLastModifiedTime(directory, FileTime.fromMillis(0));
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));

    mount.refreshByCommand("above").mustSucceed();

    assertThat(Files.getLastModifiedTime(shown)).isEqualTo(FileTime.fromMillis(0));
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(shown)))
        .isEqualTo("rwx------");
  }

  /** The origin refuses to go through the link, and programs got ELOOP. */
  @Test
  void symlink_whoseDirectoryBecomesALink_isNotThere() throws IOException {
    Place place = Place.create(mount, "links");
    Path folder = Files.createDirectory(place.origin().resolve("d"));
    Path nowhere = Path.of("no/where");
    Files.createSymbolicLink(folder.resolve("a"), nowhere);
    Path link = place.path("d/a");
    assertThat(Files.isSymbolicLink(link)).isTrue();
    Files.move(folder, place.origin().resolve("d.old"));
    Files.createSymbolicLink(folder, nowhere);

    assertThatThrownBy(() -> Files.readSymbolicLink(link)).isInstanceOf(NoSuchFileException.class);
    assertThatThrownBy(() -> Files.readString(link)).isInstanceOf(NoSuchFileException.class);
    mount.refresh();
    assertThat(Files.readSymbolicLink(place.path("d"))).isEqualTo(nowhere);
  }

  @Test
  void refresh_ofOnePath_leavesTheOthersAlone() throws IOException {
    Place place = Place.create(mount, "versions");
    Dataset dataset = Dataset.create(place.origin(), 2, i -> SMALL);
    place.assertReadsAll(SANDBOX, dataset);
    mount.settledStats();
    for (int i = 0; i < 2; i++) {
      OriginChange.REWRITTEN_IN_PLACE.apply(dataset.file(i), i, SMALL);
    }

    mount.refreshByCommand(place.ofMount(dataset.files()).get(0)).mustSucceed();

    assertThat(place.path(dataset.files().get(0))).has(content(Stamps.bytes(0, 2, 0, SMALL)));
    assertThat(place.path(dataset.files().get(1))).has(content(Stamps.bytes(1, 1, 0, SMALL)));
  }

  /**
   * With libfuse, a notice about a directory whose number it had freed, because the kernel had
   * forgotten the directory, ended the daemon.
   */
  @Test
  void names_forgottenChangedAndRefreshedAtRandom_stayTheOrigins() throws IOException {
    Dataset dataset = Dataset.create(SANDBOX.tmpfs("names"), 2000, i -> 16);
    long seed = System.nanoTime();
    Random random = new Random(seed);
    Mount own = SANDBOX.mount(dataset.root(), "--capacity", "16M");
    Child walker =
        SANDBOX.start(
            "sh",
            "-c",
            "while :; do find \"$0\" -size 0 >/dev/null 2>&1; done",
            own.mountpoint().toString());

    for (int round = 0; round < 200; round++) {
      Path directory = dataset.root().resolve("class_%02d".formatted(random.nextInt(10)));
      Path file = directory.resolve("new_" + random.nextInt(20));
      switch (random.nextInt(6)) {
        case 0 -> own.forgetNames();
        case 1 -> Files.writeString(file, "round " + round);
        case 2 -> Files.deleteIfExists(file);
        case 3 -> exchange(directory, dataset.root().resolve("class_00"));
        case 4 -> own.refresh();
        default -> own.refresh(dataset.root().relativize(directory).toString());
      }
    }
    walker.kill();
    own.refresh();

    assertThat(own.daemonIsAlive()).as("the daemon lives, seed %d", seed).isTrue();
    TreeDiff diff =
        new TreeDiff(RawPath.of(dataset.root()), RawPath.of(own.mountpoint()), Set.of());
    assertThat(diff.differences()).as("seed %d", seed).isEmpty();
  }

  /** Has two directories change their names. */
  private static void exchange(Path one, Path other) throws IOException {
    if (!one.equals(other)) {
      Path aside = one.resolveSibling("aside");
      Files.move(one, aside);
      Files.move(other, one);
      Files.move(aside, other);
    }
  }
}
