package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Large files, read in every way in which programs read them. fio wrote a checksum into each page,
 * and verifies it; the origin's bytes are counted. {@code holdfast.large} is the size of a file in
 * MiB.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Order(1)
class LargeFilesIT {
  private static final int MIB = 1 << 20;
  private static final int PAGE = 4096;
  private static final long SIZE = Integer.getInteger("holdfast.large", 64) * (long) MIB;

  private static final long ITEM = 8 << 20;
  private static final long SPARSE = 20_000_000_000L;
  private static final int ADMITTED = 32;
  private static final int ISLANDS = 64;

  /** The mount of files that may be resident. */
  @RegisterExtension static final Sandbox SHARED = new Sandbox();

  @RegisterExtension
  static final SharedMount KEEPING =
      new SharedMount(() -> SHARED.mount(SHARED.tmpfs("origin"), "--capacity", SIZE + ""));

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  /**
   * A way to read a file once from end to end, in some order.
   *
   * @param most bytes from the origin for each byte of the file, at most
   */
  private record Pattern(
      String order, String unit, String engine, boolean direct, int jobs, double most) {
    @Override
    public String toString() {
      return String.join("-", order, unit, engine, direct ? "direct" : "cached", jobs + "jobs");
    }
  }

  private static final List<Pattern> PATTERNS =
      List.of(
          new Pattern("read", "1m", "psync", false, 1, 1),
          new Pattern("read", "4k", "psync", false, 8, 1.25),
          new Pattern("read", "1m", "psync", true, 1, 1),
          new Pattern("read", "256k", "libaio", true, 8, 1.25),
          new Pattern("read", "4k", "mmap", false, 1, 1),
          new Pattern("randread", "4k", "psync", false, 1, 2),
          new Pattern("randread", "4k", "psync", true, 8, 2),
          new Pattern("randread", "256k", "psync", false, 1, 2),
          new Pattern("randread", "256k", "libaio", true, 8, 2),
          new Pattern("randread", "4k", "mmap", false, 1, 2));

  /** Each file is read once: nothing of it is in any cache. */
  @Test
  void notResident_readInAnyWay_isRightAndCostsLittleMore() throws IOException {
    Path origin = sandbox.tmpfs("origin");
    Path first = written(origin);
    for (Pattern pattern : PATTERNS) {
      Files.copy(first, origin.resolve(pattern.toString()));
    }
    Mount mount = sandbox.mount(origin, "--policy", "none");
    for (Pattern pattern : PATTERNS) {
      long before = originBytes(mount);

      read(mount.path(pattern.toString()), pattern);

      Stats after = mount.awaitStats("no fetch", stats -> stats.number("fetches.in_flight") == 0);
      long cost = after.number("fetches.origin.bytes") - before;
      System.out.printf("%s: %.3f of the file from the origin%n", pattern, (double) cost / SIZE);
      assertThat(cost).as(pattern.toString()).isBetween(SIZE, (long) (pattern.most() * SIZE));
      assertThat(after.number("transit.used_bytes"))
          .isLessThanOrEqualTo(after.number("transit.capacity_bytes"));
    }
  }

  /**
   * Others gave early ends and wrong bytes so. The window keeps what the kernel reads ahead: in a
   * smaller one, a reader that is slower than the kernel finds some of it dropped.
   */
  @Test
  void notResident_withReadaheadAsLargeAsTheFile_isRight() throws IOException {
    Path origin = sandbox.tmpfs("origin");
    Path file = written(origin);
    Mount mount =
        sandbox.mount(origin, "--policy", "none", "--window", 2 * SIZE + "", "--window-age", "1m");
    long device = (long) Files.getAttribute(mount.mountpoint(), "unix:dev");
    long minor = (device & 0xff) | ((device >> 12) & 0xfff00);
    Path readahead = Path.of("/sys/class/bdi/0:" + minor + "/read_ahead_kb");
    Files.writeString(readahead, Long.toString(SIZE / 1024));
    assertThat(Files.readString(readahead).strip()).isEqualTo(Long.toString(SIZE / 1024));

    read(mount.path(file.getFileName().toString()), PATTERNS.get(0));
    assertThat(originBytes(mount)).isEqualTo(SIZE);
  }

  /**
   * Transit reuses the memory that one item has freed for the next; once it took several times as
   * much.
   */
  @Test
  void notResident_readToTheEnd_takesNoMoreMemoryThanTransitMay() throws IOException {
    Path origin = sandbox.tmpfs("origin");
    Path file = origin.resolve("large");
    try (RandomAccessFile holes = new RandomAccessFile(file.toFile(), "rw")) {
      holes.setLength(512L * MIB);
    }
    Mount mount = sandbox.mount(origin, "--policy", "none", "--transit", "64M");
    long before = mount.stats().number("process.rss_anon_bytes");
    sandbox
        .command("dd", "if=" + mount.path("large"), "of=/dev/null", "bs=1M", "status=none")
        .mustSucceed();
    long grown = mount.stats().number("process.rss_anon_bytes") - before;
    assertThat(grown).as("of the virtual machine as well").isLessThan((64 + 64) * (long) MIB);
  }

  @Test
  void resident_readInAnyWay_isRightAndCostsNothing() throws IOException {
    Mount mount = keeping(SIZE);
    Path file = written(Path.of(mount.source()));
    mount.refresh();
    long earlier = originBytes(mount);
    Path mounted = mount.path(file.getFileName().toString());
    read(mounted, PATTERNS.get(0));
    Stats before = mount.settledStats();
    assertThat(before.residentBytes()).isEqualTo(SIZE);
    assertThat(before.number("fetches.origin.bytes") - earlier).isEqualTo(SIZE);
    for (Pattern pattern : PATTERNS) {
      long reads = mount.stats().requests("READ");

      read(mounted, pattern);

      if (!pattern.direct()) {
        assertThat(mount.stats().requests("READ")).as(pattern.toString()).isEqualTo(reads);
      }
      assertThat(originBytes(mount) - earlier).as(pattern.toString()).isEqualTo(SIZE);
    }
  }

  /** Returns the mount with nothing resident. */
  private static Mount keeping(long capacity) {
    Mount mount = KEEPING.get();
    mount.drop();
    assertThat(mount.settledStats().residentItems()).isZero();
    mount.setCapacity(capacity);
    return mount;
  }

  /** A file of 20 GB, of which 256 MiB may be kept: islands of bytes in holes. */
  @Test
  void sparseFile_farLargerThanTheCapacity_isRightAndWithinIt() throws IOException {
    Mount mount = keeping(ADMITTED * ITEM);
    Path file = Path.of(mount.source()).resolve("sparse");
    List<Long> items =
        new ArrayList<>(IntStream.range(1, (int) (SPARSE / ITEM)).asLongStream().boxed().toList());
    Collections.shuffle(items, random);
    List<Long> islands = new ArrayList<>();
    List<byte[]> contents = new ArrayList<>();
    try (RandomAccessFile out = new RandomAccessFile(file.toFile(), "rw")) {
      out.setLength(SPARSE);
      for (int i = 0; i < ISLANDS; i++) {
        byte[] content = new byte[PAGE * (1 + random.nextInt(16))];
        random.nextBytes(content);
        long offset = items.get(i) * ITEM + PAGE * (16L + random.nextInt(1800));
        out.seek(offset);
        out.write(content);
        islands.add(offset);
        contents.add(content);
      }
    }
    mount.refresh();
    long earlier = originBytes(mount);
    try (FileChannel in = FileChannel.open(mount.path("sparse"), StandardOpenOption.READ)) {
      for (int i = 0; i < ADMITTED; i++) {
        assertIsland(in, islands.get(i), contents.get(i));
      }
      Stats full = mount.settledStats();
      assertThat(full.residentItems()).isEqualTo(ADMITTED);
      assertThat(full.number("fetches.origin.bytes") - earlier).isEqualTo(ADMITTED * ITEM);

      for (int i = 0; i < ISLANDS; i++) {
        assertIsland(in, islands.get(i), contents.get(i));
      }
      Stats after = mount.awaitStats("no fetch", stats -> stats.number("fetches.in_flight") == 0);
      assertThat(after.residentBytes()).isEqualTo(ADMITTED * ITEM);
      long asked = after.number("reads.bytes") - full.number("reads.bytes");
      long cost = after.number("fetches.origin.bytes") - full.number("fetches.origin.bytes");
      System.out.printf("sparse: %d bytes asked for, %d from the origin%n", asked, cost);
      assertThat(cost).as("seed %d", seed).isBetween(asked, 2 * asked);
    }
  }

  /** The island, and the hole that it ends in. */
  private void assertIsland(FileChannel in, long offset, byte[] content) throws IOException {
    ByteBuffer read = ByteBuffer.allocate(content.length + PAGE);
    while (read.hasRemaining() && in.read(read, offset + read.position()) > 0) {}
    byte[] expected = java.util.Arrays.copyOf(content, content.length + PAGE);
    assertThat(read.array()).as("at %d, seed %d", offset, seed).isEqualTo(expected);
  }

  private static long originBytes(Mount mount) {
    return mount.stats().number("fetches.origin.bytes");
  }

  /** A file that fio can verify, each page for itself. */
  private Path written(Path folder) {
    Path file = folder.resolve("first");
    fio(file, "--rw=write", "--bs=1m", "--do_verify=0", "--size=" + SIZE);
    return file;
  }

  private void read(Path file, Pattern pattern) {
    long share = SIZE / pattern.jobs();
    fio(
        file,
        "--readonly",
        "--verify_fatal=1",
        "--rw=" + pattern.order(),
        "--bs=" + pattern.unit(),
        "--ioengine=" + pattern.engine(),
        "--iodepth=4",
        "--direct=" + (pattern.direct() ? 1 : 0),
        "--numjobs=" + pattern.jobs(),
        "--size=" + share,
        "--offset_increment=" + share,
        "--randseed=" + seed);
  }

  private void fio(Path file, String... options) {
    List<String> command =
        new ArrayList<>(
            List.of(
                "fio",
                "--name=it",
                "--thread",
                "--minimal",
                "--filename=" + file,
                "--verify=crc32c",
                // which would be left in the directory that tests are run from
                "--verify_state_save=0",
                "--verify_interval=" + PAGE));
    command.addAll(List.of(options));
    sandbox.command(command.toArray(String[]::new)).mustSucceed();
  }
}
