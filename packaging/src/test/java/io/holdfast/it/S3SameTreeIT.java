package io.holdfast.it;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.posix.Posix;
import io.holdfast.posix.RawPath;
import io.holdfast.posix.Stat;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The same files in a directory and in a bucket: the mount of the bucket shows the directory. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class S3SameTreeIT {
  @Order(1)
  @RegisterExtension
  static final Bucket BUCKET = new Bucket();

  @Order(2)
  @RegisterExtension
  static final Sandbox SANDBOX = new Sandbox();

  private static final String PREFIX = "some where/träin";
  private static final String LARGE = "sizes/9000001";
  private static final List<Integer> SIZES =
      List.of(0, 1, 4095, 4096, 4097, 262_145, 1_048_576, 1_048_577, 9_000_001);

  private static final List<String> NAMES =
      List.of(
          "x".repeat(255),
          "\u754c".repeat(85),
          " leading and trailing ",
          "-rf",
          "back\\slash",
          "'single' \"double\" `tick` $HOME %s",
          "100%25 +plus+ &amp; a=b?c#d;e,f",
          "<xml> & ]]>",
          "...",
          ".hidden",
          "\u00fcml\u00e4ut",
          "u\u0308 combined",
          "\ud83d\ude80 rocket");

  private static Path tree;
  private static Mount mount;

  @BeforeAll
  static void mountBucket() throws IOException {
    tree = SANDBOX.folder("tree");
    for (int size : SIZES) {
      write("sizes/" + size, size);
    }
    for (String name : NAMES) {
      write("names/" + name, 1000);
      write("folders/" + name + "/inside", 10);
    }
    write("d/".repeat(60) + "leaf", 5000);
    try (Stream<Path> files = Files.walk(tree)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        BUCKET.put(PREFIX + "/" + tree.relativize(file), Files.readAllBytes(file));
      }
    }
    BUCKET.put(PREFIX + "er/beside", new byte[5]);
    BUCKET.put(PREFIX + "/sizes", new byte[5]);
    mount =
        BUCKET.mount(
            SANDBOX,
            PREFIX,
            "--item-size=1M",
            "--uid=1234",
            "--gid=567",
            "--file-mode=640",
            "--dir-mode=0750",
            "--log-level=trace");
  }

  private static void write(String name, int size) throws IOException {
    Path file = tree.resolve(name);
    Files.createDirectories(file.getParent());
    Files.write(file, Stamps.bytes(name.hashCode(), 1, 0, size));
  }

  @Test
  void walk_everyName_isThatOfTheDirectory() throws IOException {
    assertThat(walk(mount.mountpoint())).isEqualTo(walk(tree));
    assertThat(walk(mount.mountpoint())).as("from the caches, too").isEqualTo(walk(tree));
  }

  /** Nobody would miss it: the walk is that of the directory. */
  @Test
  void key_besideItsDirectory_isToldByMountStatsAndDoctor() {
    String told = "1 key of the store cannot be shown as a path, as '" + PREFIX + "/sizes'";
    assertThat(mount.plan().lines()).anyMatch(line -> line.endsWith(told));
    assertThat(mount.stats().at("dataset.hidden_keys")).isEqualTo(1);
    assertThat(SANDBOX.holdfast("stats", mount.name()).out()).contains("hidden        " + told);
    assertThat(SANDBOX.holdfast("doctor", mount.name()).out())
        .containsPattern("WARN +origin +" + told);
  }

  /** Names, and the sizes of files. */
  private static Map<String, Long> walk(Path root) throws IOException {
    Map<String, Long> found = new TreeMap<>();
    try (Stream<Path> paths = Files.walk(root)) {
      for (Path path : paths.toList()) {
        found.put(
            root.relativize(path).toString(), Files.isDirectory(path) ? -1 : Files.size(path));
      }
    }
    return found;
  }

  @Test
  void contents_everyFile_areThoseOfTheDirectory() {
    String sums = "cd \"$1\" && find . -type f -print0 | sort -z | xargs -0 sha256sum";

    String there = SANDBOX.command("sh", "-c", sums, "sh", tree.toString()).mustSucceed().out();
    String here =
        SANDBOX.command("sh", "-c", sums, "sh", mount.mountpoint().toString()).mustSucceed().out();

    assertThat(here).isEqualTo(there).hasLineCount(SIZES.size() + 2 * NAMES.size() + 1);
  }

  @Test
  void pread_oddOffsetsAndPastTheEnd_givesTheSameBytes() throws IOException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    RawPath there = RawPath.of(tree).child(LARGE);
    RawPath here = RawPath.of(mount.mountpoint()).child(LARGE);
    for (int i = 0; i < 40; i++) {
      long offset = random.nextInt(9_010_000);
      int length = 1 + random.nextInt(i % 3 == 0 ? 700_000 : 5000);
      assertThat(
              Arrays.equals(Posix.pread(here, offset, length), Posix.pread(there, offset, length)))
          .as("%d bytes at %d, seed %d", length, offset, seed)
          .isTrue();
    }
  }

  @Test
  void attributes_ofFilesAndDirectories_areThoseOfTheOptions() throws IOException {
    Stat file = Posix.lstat(RawPath.of(mount.path(LARGE)));
    Stat directory = Posix.lstat(RawPath.of(mount.path("sizes")));

    assertThat(file.mode()).isEqualTo(Posix.S_IFREG | 0640);
    assertThat(directory.mode()).isEqualTo(Posix.S_IFDIR | 0750);
    assertThat(List.of(file.uid(), directory.uid())).containsOnly(1234L);
    assertThat(List.of(file.gid(), directory.gid())).containsOnly(567L);
    long now = System.currentTimeMillis() / 1000;
    assertThat(file.modified().seconds()).isBetween(now - 120, now + 5);
  }

  @Test
  void mountTable_ofTheMount_namesBucketAndPrefix() {
    MountTable.Row row = MountTable.holdfastAt(mount.mountpoint()).get(0);

    assertThat(row.source()).isEqualTo(mount.source());
    assertThat(row.options().split(",")).contains("ro");
  }

  @Test
  void mutations_ofObjects_areRefused() {
    assertThatThrownBy(() -> Files.writeString(mount.path("new"), "x"))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining("Read-only");
    assertThatThrownBy(() -> Files.delete(mount.path(LARGE)))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining("Read-only");
  }

  /** In the environment of the daemon, and nowhere else. */
  @Test
  void credentials_whateverIsLoggedAndShown_areNotInIt() throws IOException {
    Set<Path> shown = new TreeSet<>(List.of(mount.log()));
    shown.add(mount.path(".holdfast/config"));
    shown.add(mount.path(".holdfast/stats"));
    shown.add(mount.path(".holdfast/stats.json"));
    if (Files.exists(mount.state())) {
      shown.add(mount.state().resolve("command"));
      shown.add(mount.state().resolve("settings.json"));
    }
    for (Path file : shown) {
      String text = Files.readString(file, ISO_8859_1);
      for (String secret : Bucket.SECRETS) {
        assertThat(text.contains(secret)).as("%s in %s", secret, file).isFalse();
      }
    }
    assertThat(Files.readString(mount.log())).contains(mount.source());
    assertThat(ProcessTable.marked(SANDBOX.id()))
        .allSatisfy(row -> assertThat(row.commandLine()).doesNotContain(Bucket.SECRETS));
  }
}
