package io.holdfast.it;

import static java.util.stream.Collectors.toList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Compares a mount's figures of its jobs with the jobs' own figures. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
class JobsIT {
  @RegisterExtension
  @Order(1)
  static final Bucket bucket = new Bucket();

  private static final int HALF = 40;
  private static final int FILE_BYTES = 16 << 10;
  private static final Duration READ_DEADLINE = Duration.ofSeconds(60);

  /** How long each request to the slow store takes, and how many files are read of it. */
  private static final Duration SLOW = Duration.ofMillis(600);

  private static final int SLOW_FILES = 8;

  /** A read of a file of the mount in what strace says: {@code read(3</mnt/f>, ...) = 9 <0.08>}. */
  private static final Pattern TIMED_READ =
      Pattern.compile("read\\(\\d+<(/[^>]*)>.* <(\\d+\\.\\d+)>$", Pattern.MULTILINE);

  /** Opens and reads each file, and is there until it has been asked for. */
  private static final String OPEN_AND_STAY =
      "for f; do exec 3<\"$f\"; read -r x <&3; done; echo done; read -r end";

  @RegisterExtension
  @Order(2)
  final Sandbox sandbox = new Sandbox();

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  @Test
  void jobsInTwoGroups_readingTwoHalves_areToldRightToTheItem() {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), 2 * HALF, i -> FILE_BYTES);
    Mount mount =
        sandbox.mount(
            dataset.root(),
            "--capacity",
            Long.toString((long) HALF * FILE_BYTES),
            "--window",
            "0",
            "--count-opens",
            "watch");
    List<MemoryCgroup> groups =
        List.of(MemoryCgroup.create(sandbox, "a"), MemoryCgroup.create(sandbox, "b"));

    readBoth(mount, dataset, groups);
    mount.settledStats();
    long[] resident = {residents(mount, dataset, 0), residents(mount, dataset, 1)};
    readBoth(mount, dataset, groups);

    Stats stats =
        mount.awaitStats("all opens", figures -> figures.number("opens.total") >= 4 * HALF);
    assertThat(resident[0] + resident[1]).isEqualTo(HALF);
    for (int half = 0; half < 2; half++) {
      Stats job = job(stats, groups.get(half).name());
      long misses = HALF - resident[half];
      assertThat(job.number("processes")).isEqualTo(2);
      assertThat(job.number("opens")).isEqualTo(2 * HALF);
      assertThat(job.number("misses")).as("seed %d: %s", seed, stats).isEqualTo(HALF + misses);
      assertThat(job.number("fetched_bytes")).isEqualTo((HALF + misses) * FILE_BYTES);
      assertThat(job.number("epoch")).isEqualTo(2);
      List<Stats> epochs = job.list("epochs");
      assertThat(epochs.stream().map(epoch -> epoch.number("opens")).collect(toList()))
          .as("seed %d: %s", seed, stats)
          .containsExactly((long) HALF, (long) HALF);
      assertThat(epochs.stream().map(epoch -> epoch.number("misses")).collect(toList()))
          .containsExactly((long) HALF, misses);
      assertThat(real(epochs.get(1), "hit_ratio"))
          .isCloseTo((double) resident[half] / HALF, within(0.0001));
    }
    assertThat(stats.number("opens.total")).isEqualTo(4 * HALF);
    assertThat(sandbox.holdfast("stats", "--jobs", mount.name()).mustSucceed().out())
        .contains(groups.get(0).name());
  }

  /** Each of the groups reads its half, both at once, in an order that is another each time. */
  private void readBoth(Mount mount, Dataset dataset, List<MemoryCgroup> groups) {
    List<Child> readers = new ArrayList<>();
    for (int half = 0; half < 2; half++) {
      List<Integer> order = new ArrayList<>();
      // no file is among the last of an epoch and the first of the next
      for (int quarter = 0; quarter < 2; quarter++) {
        int first = half * HALF + quarter * HALF / 2;
        List<Integer> files =
            new ArrayList<>(IntStream.range(first, first + HALF / 2).boxed().toList());
        Collections.shuffle(files, random);
        order.addAll(files);
      }
      List<String> command = new ArrayList<>(groups.get(half).enter());
      command.addAll(
          Sandbox.java(Reader.class, mount.mountpoint(), dataset.list(sandbox, order), 1, "share"));
      readers.add(sandbox.start(Map.of(), command));
    }
    readers.forEach(reader -> reader.await(READ_DEADLINE).mustSucceed());
  }

  private static long residents(Mount mount, Dataset dataset, int half) {
    return dataset.files().subList(half * HALF, (half + 1) * HALF).stream()
        .filter(file -> !mount.xattr(file, "resident").equals("0"))
        .count();
  }

  @Test
  void timeStalled_isWhatTheReaderWaited() throws IOException {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), SLOW_FILES, i -> 10_000 + i);
    bucket.putAll("slow", dataset);
    Mount mount = bucket.mount(sandbox, "slow", "--capacity", "64M");
    for (String file : dataset.files()) {
      assertThat(mount.path(file)).isRegularFile(); // and known from now on
    }
    mount.awaitStats("the scan's end", s -> Boolean.TRUE.equals(s.at("dataset.scanned")));
    MemoryCgroup group = MemoryCgroup.create(sandbox, "slow");
    Path trace = sandbox.root().resolve("trace");
    List<String> command = new ArrayList<>(group.enter());
    command.addAll(
        List.of("strace", "-f", "-y", "-T", "-e", "trace=read", "-o", trace.toString(), "cat"));
    dataset.files().forEach(file -> command.add(mount.path(file).toString()));

    bucket.proxy().delay(SLOW);
    sandbox.run(Map.of(), command).mustSucceed();
    bucket.proxy().delay(Duration.ZERO);

    double waited = secondsOfReads(Files.readString(trace), mount.mountpoint());
    Stats stats = mount.awaitStats("all opens", s -> s.number("opens.total") >= SLOW_FILES);
    Stats job = job(stats, group.name());
    System.out.printf("strace: %.3f s, stats: %.3f s%n", waited, real(job, "stall_seconds"));
    assertThat(waited).isGreaterThan(SLOW_FILES * SLOW.toMillis() / 1000.0);
    assertThat(real(job, "stall_seconds")).isCloseTo(waited, within(0.05 * waited));
    assertThat(job.number("misses")).isEqualTo(SLOW_FILES);
    Stats process =
        stats.processes().stream()
            .filter(each -> "cat".equals(each.at("command")))
            .findFirst()
            .orElseThrow();
    assertThat(real(process, "stall_seconds")).isEqualTo(real(job, "stall_seconds"));
    assertThat(process.number("opens")).isEqualTo(SLOW_FILES);
  }

  private static double secondsOfReads(String trace, Path mountpoint) {
    double seconds = 0;
    Matcher read = TIMED_READ.matcher(trace);
    while (read.find()) {
      if (read.group(1).startsWith(mountpoint + "/")) {
        seconds += Double.parseDouble(read.group(2));
      }
    }
    return seconds;
  }

  @Test
  void jobsByVariable_areThoseWithItsValues_largeAndHostileOnesToo() throws IOException {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), 10, i -> FILE_BYTES);
    Mount mount = sandbox.mount(dataset.root(), "--capacity", "64M", "--job-by", "env:RUN");
    for (String run : List.of("one", "two", "two")) {
      List<String> command = new ArrayList<>(List.of("sh", "-c", OPEN_AND_STAY, "sh"));
      dataset.files().forEach(file -> command.add(mount.path(file).toString()));
      sandbox.start(Map.of("RUN", run), command).awaitLine(1, READ_DEADLINE);
    }

    Stats stats = mount.awaitStats("all opens", s -> s.number("opens.total") >= 30);

    assertThat(stats.at("jobs.by")).isEqualTo("env:RUN");
    assertThat(job(stats, "one").number("opens")).isEqualTo(10);
    assertThat(job(stats, "one").number("misses")).isEqualTo(10);
    assertThat(job(stats, "two").number("opens")).isEqualTo(20);
    assertThat(job(stats, "two").number("processes")).isEqualTo(2);
    assertThat(job(stats, "two").number("misses")).isZero();
    String file = mount.path(dataset.files().get(0)).toString();
    assertLargeAndHostileValuesAreShortAndOnOneLine(mount, file);
  }

  /**
   * A value may have 128 kB, and the kernel lets a user start as many processes as there may be.
   */
  private void assertLargeAndHostileValuesAreShortAndOnOneLine(Mount mount, String file)
      throws IOException {
    long before = mount.stats().number("opens.total");
    String start =
        "exec 4<&0; start() { RUN=$1 cat \"$2\" - <&4 >/dev/null & }; for i in $(seq 60); do start"
            + " \"$(printf '%0120000d' $i)\" \"$1\"; done; start \"$(printf 'a\\033[2J\\nforged')\""
            + " \"$1\"; echo started; read -r end";
    sandbox.start("sh", "-c", start, "sh", file).awaitLine(1, READ_DEADLINE);

    Stats stats = mount.awaitStats("all opens", s -> s.number("opens.total") >= before + 61);
    byte[] json = Files.readAllBytes(mount.path(".holdfast/stats.json"));
    String text = sandbox.holdfast("stats", "--jobs", mount.name()).mustSucceed().out();

    System.out.printf("stats.json of 61 jobs: %d bytes%n", json.length);
    assertThat(json.length).isLessThan(100_000);
    assertThat(stats.list("jobs.jobs"))
        .isNotEmpty()
        .allSatisfy(job -> assertThat(String.valueOf(job.at("job"))).hasSizeLessThan(129));
    assertThat(text).doesNotContain("\u001b").contains("forged");
    assertThat(text.lines()).noneMatch(line -> line.startsWith("forged"));
  }

  private static Stats job(Stats stats, String name) {
    return stats.list("jobs.jobs").stream()
        .filter(job -> String.valueOf(job.at("job")).endsWith(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no job " + name + " in " + stats));
  }

  private static double real(Stats stats, String key) {
    if (stats.at(key) instanceof Number number) {
      return number.doubleValue();
    }
    throw new AssertionError("no " + key + " in " + stats);
  }
}
