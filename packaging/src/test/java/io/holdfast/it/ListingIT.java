package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import io.holdfast.posix.RawPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Large trees are listed once, in the background, and from memory from then on where asking takes
 * long.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ListingIT {
  private static final int CROWD = 10_000;
  private static final int CLASSES = 10;
  private static final int EACH = 500;
  private static final Duration AT_ONCE = Duration.ofSeconds(60);

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  /** The mount that most tests look at, each at a directory of its own. */
  @RegisterExtension static final Sandbox SHARED = new Sandbox();

  private static Mount shared;

  @BeforeAll
  static void mountShared() {
    String[] options = {"--capacity", "16M", "--count-opens", "off", "--metadata-ttl", "1h"};
    shared = SHARED.mount(SHARED.tmpfs("origin"), options);
  }

  private Path tree(Path root) throws IOException {
    sandbox
        .command(
            "sh",
            "-c",
            "cd \"$1\" && mkdir crowd && (cd crowd && seq -f 'f%.0f' "
                + CROWD
                + " | xargs touch) && for i in $(seq "
                + CLASSES
                + "); do mkdir class_$i && (cd class_$i && seq -f 'f%.0f' "
                + EACH
                + " | xargs touch); done",
            "sh",
            root.toString())
        .mustSucceed();
    Files.writeString(root.resolve("class_1/f1"), "twelve bytes");
    return root;
  }

  private String count(Path root, String... conditions) {
    return sandbox
        .command(
            "sh",
            "-c",
            "find \"$1\" -mindepth 1 " + String.join(" ", conditions) + " | wc -l",
            "sh",
            root.toString())
        .mustSucceed()
        .out()
        .strip();
  }

  private static void awaitScan(Mount mount) {
    mount.awaitStats("a scan", stats -> Boolean.TRUE.equals(stats.at("dataset.scanned")));
  }

  @Test
  void scanned_originHangs_everythingIsListedAllTheSame() throws IOException {
    HangingOrigin store = HangingOrigin.of(sandbox, tree(sandbox.tmpfs("origin")));
    Mount mount = sandbox.mount(store.root(), "--capacity", "16M", "--count-opens", "off");
    awaitScan(mount);
    int entries = 1 + CROWD + CLASSES * (1 + EACH);
    assertThat(mount.stats().number("dataset.names")).isEqualTo(entries + 1);
    store.freeze();
    try {
      long start = System.nanoTime();
      assertThat(count(mount.mountpoint())).isEqualTo(Integer.toString(entries));
      assertThat(count(mount.mountpoint(), "-type", "f", "-size", "+0"))
          .as("by the attributes of each")
          .isEqualTo("1");
      Child.Result ls = sandbox.command("ls", "-l", mount.path("class_3").toString());
      assertThat(ls.mustSucceed().out().lines()).hasSize(1 + EACH);
      assertThat(mount.path("class_2/none")).doesNotExist();
      assertThat(Posix.lstat(RawPath.of(mount.path("class_1/f1"))).size()).isEqualTo(12);
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(AT_ONCE);
    } finally {
      store.thaw();
    }
  }

  /** All tmpfs count their inodes from 1, as subvolumes of btrfs do from 256. */
  @Test
  void fileSystemWithin_isListedAsNoLoop_andHasNoHardLinksToTheOtherOne() throws IOException {
    Path root = sandbox.tmpfs("origin");
    Path within = sandbox.tmpfs("origin/within");
    Files.createDirectory(within.resolve("empty")); // as the directory within is in the other one
    for (Path each : List.of(root, within)) {
      Files.createLink(each.resolve("link"), Files.writeString(each.resolve("file"), "" + each));
    }
    assertThat(inode(within)).isEqualTo(inode(root));
    assertThat(inode(within.resolve("file"))).isEqualTo(inode(root.resolve("file")));
    Mount mount = sandbox.mount(root);

    assertThat(count(mount.mountpoint())).isEqualTo("6");
    sandbox.command("du", "-s", mount.mountpoint().toString()).mustSucceed();
    long file = inode(mount.path("within/file"));
    assertThat(inode(mount.path("within/link"))).isEqualTo(file);
    assertThat(file).isNotEqualTo(inode(mount.path("file")));
    assertThat(inode(mount.path("file"))).isEqualTo(inode(root.resolve("file")));
    assertThat(mount.path("within/file")).hasContent(within.toString());
    mount.umount().mustSucceed();
    Mount again = sandbox.mountAt(root, mount.mountpoint());
    assertThat(inode(again.path("within/link"))).as("of the next daemon").isEqualTo(file);
  }

  private static long inode(Path path) throws IOException {
    return (Long) Files.getAttribute(path, "unix:ino");
  }

  @Test
  void refresh_ofADirectory_bringsItsChangesOnly() throws IOException {
    Place place = Place.create(shared, "tree");
    Path root = tree(place.origin());
    shared.refresh();
    int before = Integer.parseInt(count(place.root(), "-size", "-2"));
    Files.delete(root.resolve("class_1/f2"));
    Files.delete(root.resolve("class_2/f2"));
    Files.writeString(root.resolve("class_1/f3"), "changed");
    Files.writeString(root.resolve("class_1/new"), "");

    Child.Result refreshed = shared.refreshByCommand("tree/class_1");

    assertThat(refreshed.mustSucceed().out()).contains("3 entries have changed");
    assertThat(place.path("class_1/f2")).doesNotExist();
    assertThat(place.path("class_1/f3")).hasContent("changed");
    assertThat(place.path("class_1/new")).exists();
    assertThat(Files.exists(place.path("class_2/f2"))).as("believed until then").isTrue();
    shared.refresh();
    assertThat(place.path("class_2/f2")).doesNotExist();
    assertThat(count(place.root(), "-size", "-2")).isEqualTo(Integer.toString(before - 1));
  }

  /** The kernel keeps the listing of a directory, also while one of its names is refreshed. */
  @Test
  void refresh_ofOneName_isSeenInTheListingOfItsDirectory() throws IOException {
    Place place = Place.create(shared, "d");
    Path directory = place.origin();
    for (String name : List.of("gone", "old")) {
      Files.writeString(directory.resolve(name), name);
    }
    assertThat(names(place.root())).containsExactly("gone", "old");

    Files.writeString(directory.resolve("new"), "new");
    shared.refreshByCommand("d/new").mustSucceed();
    assertThat(names(place.root())).containsExactly("gone", "new", "old");

    Files.delete(directory.resolve("gone"));
    shared.refreshByCommand("d/gone").mustSucceed();
    assertThat(names(place.root())).containsExactly("new", "old");
  }

  private static List<String> names(Path directory) throws IOException {
    try (Stream<Path> all = Files.list(directory)) {
      return all.map(each -> each.getFileName().toString()).sorted().toList();
    }
  }

  /**
   * An open directory with a symlink, a file or nothing in its way has gone, and has not failed.
   */
  @Test
  void directory_whoseWayHasGone_isStale() throws IOException {
    Place place = Place.create(shared, "ways");
    Path origin = place.origin();
    for (String way : List.of("symlink", "file", "nothing")) {
      Files.createDirectories(origin.resolve(way + "/e"));
      Files.writeString(origin.resolve(way + "/e/a"), "a");
    }
    String script =
        """
        import errno, os, sys
        def gone(name, replace):
          way = sys.argv[1] + '/' + name
          listed = os.open(sys.argv[2] + '/' + name + '/e', os.O_RDONLY | os.O_DIRECTORY)
          os.rename(way, way + '.old')
          replace(way)
          try:
            sys.exit('listed %s: %s' % (name, os.listdir(listed)))
          except OSError as e:
            assert e.errno == errno.ESTALE, (name, e)
        gone('symlink', lambda way: os.symlink('nowhere', way))
        gone('file', lambda way: open(way, 'w').close())
        gone('nothing', lambda way: None)
        """;

    sandbox
        .command("python3", "-c", script, origin.toString(), place.root().toString())
        .mustSucceed();
  }

  /**
   * A program that asks for an attribute that no file has learns that it is not supported, and may
   * stop asking.
   */
  @Test
  void extendedAttributes_noneOrSwitchedOff_areNotSupported() throws IOException {
    Place with = Place.create(shared, "attributes");
    Files.writeString(with.origin().resolve("file"), "x");
    Mount without = sandbox.mount(with.origin(), "--capacity", "1M", "--xattr", "off");

    assertThat(error(with.path("file"), "system.posix_acl_access")).contains("NOTSUP");
    assertThat(error(with.path("file"), "user.none")).contains("ENODATA");
    assertThat(error(without.path("file"), "user.holdfast.resident")).contains("NOTSUP");
  }

  private static String error(Path file, String attribute) {
    try {
      return Integer.toString(Posix.xattr(RawPath.of(file), attribute).length);
    } catch (IOException e) {
      return e.getMessage();
    }
  }
}
