package io.holdfast.it;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A user without rights makes files of nearly 2^63 bytes. Their extents once had the numbers of
 * other users' items: extent (k * 2^24) of the user's file was extent 0 of the node k above it.
 * None of root's bytes reach the user, and none of the user's reach root. The daemon runs with
 * guard pages around the bytes that it hands over: one byte too many would end it.
 */
final class ItemIdentityIT {
  private static final int ITEM = 1 << 20;
  private static final long EXTENTS = 1L << 24;
  private static final int SECRETS = 12;

  /** The numbers of other nodes that he tries to reach: more than the dataset has. */
  private static final int NEIGHBOURS = 512;

  private static final int PIECE = 4096;
  private static final Duration AT_ONCE = Duration.ofSeconds(60);

  @RegisterExtension static final Sandbox SANDBOX = new Sandbox();

  private static Path origin;
  private static Mount mount;

  /** Root's files, which nobody else may read, and a folder in which everybody may write. */
  @BeforeAll
  static void mountDataset() throws IOException {
    origin = SANDBOX.tmpfs("origin");
    Path secret = Files.createDirectory(origin.resolve("secret"));
    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rwx------"));
    for (int i = 0; i < SECRETS; i++) {
      writeSecret(secret.resolve("resident" + i), i);
      writeSecret(secret.resolve("later" + i), SECRETS + i);
    }
    Path open = Files.createDirectory(origin.resolve("open"));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
    asNobody("cd \"$1\" && truncate -s 4E huge0 huge1 huge2 huge3 planted", open);
    for (long size : sizes()) {
      asNobody("truncate -s " + size + " \"$1\"/f" + size, open);
    }
    mount =
        SANDBOX.mountSource(
            origin.toString(),
            Map.of("HOLDFAST_JAVA_OPTIONS", "-Dholdfast.guard-pages=true"),
            "--capacity=600M",
            "--exclude=huge*",
            "--transit=64M",
            "--item-size=1M");
  }

  private static void writeSecret(Path file, int seed) throws IOException {
    Files.write(file, secret(seed));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
  }

  /** Not a multiple of a page: there is something behind its end. */
  private static byte[] secret(int seed) {
    byte[] bytes = new byte[3 * PIECE + 1000];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static List<Long> sizes() {
    return List.of(
        Long.MAX_VALUE,
        1L << 62,
        (1L << 53) - 1,
        (1L << 53) + 1,
        EXTENTS * ITEM - 1,
        EXTENTS * ITEM,
        EXTENTS * ITEM + 1);
  }

  private static Child.Result asNobody(String script, Path argument) {
    return SANDBOX
        .command(
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "sh",
            "-c",
            script,
            "sh",
            argument.toString())
        .mustSucceed();
  }

  /** Returns the offsets of the extents that would have had the numbers of other nodes' items. */
  private static List<Long> collisions() {
    return LongStream.rangeClosed(1, NEIGHBOURS).mapToObj(k -> k * EXTENTS * ITEM).toList();
  }

  @Test
  void hugeFile_readAsNobody_givesNoByteOfRootsFiles() throws IOException {
    for (int i = 0; i < SECRETS; i++) {
      assertThat(Files.readAllBytes(mount.path("secret/resident" + i))).isEqualTo(secret(i));
    }
    mount.settledStats();
    assertThat(mount.xattr("secret/resident0", "items")).isEqualTo("1/1");
    Path offsets = offsets("read");
    for (int i = 0; i < 4; i++) {
      Path huge = mount.path("open/huge" + i);
      Child.Result read = asNobody(reader(huge, "sys.stdout.write"), offsets);
      assertThat(read.out()).as("what is not zero in a file that is all holes").isEmpty();
    }
    assertThat(mount.daemonIsAlive()).isTrue();
  }

  @Test
  void hugeFile_writtenByNobody_isNeverTheContentOfRootsFiles() throws IOException {
    try (RandomAccessFile planted =
        new RandomAccessFile(origin.resolve("open/planted").toFile(), "rw")) {
      for (long offset : collisions()) {
        planted.seek(offset);
        planted.write("planted by nobody".getBytes(US_ASCII));
      }
    }
    for (int i = 0; i < SECRETS; i++) {
      Files.size(mount.path("secret/later" + i)); // the file is known, and not read
    }
    Child.Result read = asNobody(reader(mount.path("open/planted"), "str"), offsets("plant"));
    assertThat(read.out()).isEmpty();
    mount.settledStats();

    for (int i = 0; i < SECRETS; i++) {
      assertThat(Files.readAllBytes(mount.path("secret/later" + i)))
          .as("later%d", i)
          .isEqualTo(secret(SECRETS + i));
    }
  }

  private static Path offsets(String name) throws IOException {
    Path file = SANDBOX.root().resolve(name);
    Files.write(file, collisions().stream().map(String::valueOf).toList());
    return file;
  }

  /** Reads the first pages at each offset, and reports bytes that are not zero. */
  private static String reader(Path file, String tell) {
    return "python3 -c 'import os, sys\n"
        + "f = os.open(\"%s\", os.O_RDONLY)\n".formatted(file)
        + "os.posix_fadvise(f, 0, 0, os.POSIX_FADV_RANDOM)\n"
        + "for offset in map(int, open(sys.argv[1])):\n"
        + "  for page in (0, 3):\n"
        + "    data = os.pread(f, 4096, offset + page * 4096)\n"
        + "    if data.strip(bytes(1)): %s(\"%%d %%r\\n\" %% (offset, data[:40]))\n".formatted(tell)
        + "' \"$1\"";
  }

  @Test
  void itemsOfAHugeFile_areToldAtOnce() {
    for (String file : List.of("open/huge0", "open/f" + Long.MAX_VALUE, "open/f" + (1L << 62))) {
      // in a process, which can be given up: the daemon counted for hours
      Child.Result asked =
          asNobody(
              "python3 -c 'import os, sys\n"
                  + "for name in (\"items\", \"resident\"):\n"
                  + "  print(os.getxattr(sys.argv[1], \"user.holdfast.\" + name).decode())"
                  + "' \"$1\"",
              mount.path(file));
      assertThat(asked.took()).as(file).isLessThan(AT_ONCE);
      List<String> lines = asked.out().lines().toList();
      assertThat(lines.get(0)).matches("[0-9]{1,4}/[0-9]{13}");
      assertThat(Long.parseLong(lines.get(1))).isLessThan(600L << 20);
    }
  }

  @Test
  void endOfAHugeFile_isReadAsAtTheOrigin() throws IOException {
    for (long size : sizes()) {
      Path file = mount.path("open/f" + size);
      assertThat(Files.size(file)).isEqualTo(size);
      try (RandomAccessFile here = new RandomAccessFile(file.toFile(), "r")) {
        byte[] bytes = new byte[PIECE];
        Arrays.fill(bytes, (byte) 1);
        here.seek(size - 100);
        // Linux refuses what would end beyond 2^63
        int most = (int) Math.min(PIECE, Long.MAX_VALUE - size + 100);
        assertThat(here.read(bytes, 0, most)).as("bytes at the end of %d", size).isEqualTo(100);
        assertThat(Arrays.copyOf(bytes, 100)).containsOnly(0);
        here.seek(size / 2);
        assertThat(here.read(bytes)).isEqualTo(PIECE);
        assertThat(bytes).containsOnly(0);
      }
    }
  }
}
