package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * The daemon in a memory cgroup of capacity + 512 MiB, a dataset of five times the capacity with
 * small and large files, 16 readers: too long for the check, run by {@code packaging/e2e/ceiling}.
 */
@Isolated("takes the machine")
class CeilingProof {
  private static final long CAPACITY = Long.getLong("holdfast.ceiling-capacity", 128L << 20);
  private static final int FILES = Integer.getInteger("holdfast.ceiling-files", 20_000);
  private static final int PASSES = Integer.getInteger("holdfast.ceiling-passes", 2);
  private static final int PROCESSES = 2;
  private static final int THREADS = 8;
  private static final int LARGE = 40;

  /** A reader has little memory for its list. */
  private static final int LIST = 50_000;

  private static final long BESIDES = 512L << 20;
  private static final Duration DEADLINE = Duration.ofMinutes(30);

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  private long mostUsed;
  private long mostUnreclaimable;
  private long mostOwn;
  private @Nullable Stats atMost;

  @Test
  void daemon_inACgroupOfCapacityAndHalfAGiga_isNotKilled() throws Exception {
    System.out.printf("seed %d%n", seed);
    long large = 5 * CAPACITY / 4 / LARGE;
    long small = (5 * CAPACITY - large * LARGE) / (FILES - LARGE);
    IntUnaryOperator size =
        i -> (int) (i % (FILES / LARGE) == 0 ? large : random.nextLong(2 * small) + 1);
    Dataset dataset = Dataset.create(sandbox.tmpfs("origin"), FILES, size);
    MemoryCgroup group = MemoryCgroup.create(sandbox, "ceiling");
    group.limit(CAPACITY + BESIDES);
    Mount mount =
        sandbox.mountWith(
            group.enter(),
            Map.of("HOLDFAST_HEAP", "160m"),
            dataset.root().toString(),
            sandbox.folder("mnt"),
            "--capacity",
            Long.toString(CAPACITY),
            "--memory",
            "95%",
            "--transit",
            "64M",
            "--window",
            "32M");
    long daemon = mount.pid();

    for (int pass = 0; pass < PASSES; pass++) {
      long begun = System.nanoTime();
      int rounds = Math.max(1, FILES / LIST / PROCESSES);
      List<Path> lists = dataset.shares(sandbox, random, rounds * PROCESSES);
      for (int round = 0; round < rounds; round++) {
        read(group, mount, lists.subList(round * PROCESSES, (round + 1) * PROCESSES));
      }
      System.out.printf("pass %d: %d s%n", pass, (System.nanoTime() - begun) / 1_000_000_000L);
    }

    print(group, mount, dataset);
    assertThat(group.kills()).isZero();
    assertThat(mount.pid()).isEqualTo(daemon);
    assertThat(mount.daemonIsAlive()).isTrue();
    assertThat(mount.settledStats().number("memory.used_bytes"))
        .isLessThanOrEqualTo(mount.stats().number("memory.limit_bytes"));
  }

  private void read(MemoryCgroup group, Mount mount, List<Path> lists) throws Exception {
    List<Child> readers = new ArrayList<>();
    for (Path list : lists) {
      readers.add(sandbox.startJava(Reader.class, mount.mountpoint(), list, THREADS, "share"));
    }
    while (readers.stream().anyMatch(Child::isAlive)) {
      look(group, mount);
      Thread.sleep(200);
    }
    for (Child reader : readers) {
      Child.Result result = reader.await(DEADLINE);
      assertThat(result.out() + result.err()).endsWith(" errors=0 wrong=0\n");
    }
  }

  private void look(MemoryCgroup group, Mount mount) {
    long used = group.usedBytes();
    mostUsed = Math.max(mostUsed, used);
    Stats stats = mount.stats();
    long own = stats.number("memory.used_bytes");
    if (own > mostOwn) {
      mostOwn = own;
      atMost = stats;
    }
    for (Stats room : stats.list("memory.rooms")) {
      if (String.valueOf(room.at("place")).contains("ceiling")) {
        long left = room.number("available_bytes");
        mostUnreclaimable = Math.max(mostUnreclaimable, CAPACITY + BESIDES - left);
      }
    }
  }

  private void print(MemoryCgroup group, Mount mount, Dataset dataset) throws IOException {
    System.out.printf(
        "dataset %d files, %d bytes, %d in pages; capacity %d, cgroup %d%n",
        FILES, dataset.bytes(), dataset.pageBytes(), CAPACITY, CAPACITY + BESIDES);
    System.out.printf(
        "cgroup: at most %d used with page cache, %d that cannot be taken back, %d killed%n",
        mostUsed, mostUnreclaimable, group.kills());
    System.out.println("at the most: " + (atMost == null ? "-" : atMost.at("memory")));
    System.out.println("in the end:  " + mount.stats().at("memory"));
    System.out.println("cache:       " + mount.stats().at("cache"));
    Files.readAllLines(Path.of("/proc/" + mount.pid() + "/status")).stream()
        .filter(line -> line.matches("(Rss\\w+|VmLck|VmPTE|VmHWM|Threads):.*"))
        .forEach(line -> System.out.println("  " + line));
    Files.readAllLines(mount.log()).stream()
        .filter(line -> line.contains("residents") || line.contains("WARN"))
        .forEach(line -> System.out.println("  " + line));
  }
}
