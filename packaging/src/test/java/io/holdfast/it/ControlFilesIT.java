package io.holdfast.it;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import io.holdfast.posix.Posix.Entry;
import io.holdfast.posix.RawPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A mount's figures about itself: control files, attributes, counted opens. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
class ControlFilesIT {
  private static final int FILES = 40;
  private static final int FILE_BYTES = 10_000;
  private static final Duration READ_DEADLINE = Duration.ofSeconds(20);

  /** Figures may be a second old, for tools that look at a file before they open it. */
  private static final Duration FRESH_DEADLINE = Duration.ofSeconds(3);

  private static final Map<String, Class<?>> KEYS = keys();

  /** The mount that most tests look at; only one of them reads from it. It has room for half. */
  @RegisterExtension static final Sandbox SHARED = new Sandbox();

  private static Dataset sharedDataset;
  private static Mount shared;
  private static Instant begun;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private final Random random = new Random(1);

  @BeforeAll
  static void mountShared() {
    sharedDataset = Dataset.create(SHARED.folder("origin"), FILES, i -> FILE_BYTES);
    String half = Long.toString(sharedDataset.pageBytes() / 2);
    begun = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    shared = SHARED.mount(sharedDataset.root(), "--capacity", half, "--metadata-ttl", "5m");
  }

  private static Map<String, Class<?>> keys() {
    Map<String, Class<?>> keys = new TreeMap<>();
    for (String key :
        List.of(
            "name",
            "version",
            "origin",
            "mountpoint",
            "mounted_at",
            "cache.policy",
            "cache.pin",
            "kernel.ioctl")) {
      keys.put(key, String.class);
    }
    for (String key : List.of("dataset.scanned", "opens.counted")) {
      keys.put(key, Boolean.class);
    }
    keys.put("jobs.by", String.class);
    keys.put("jobs.jobs", List.class);
    keys.put("processes", List.class);
    keys.put("orders", List.class);
    keys.put("convoys", List.class);
    keys.put("kernel.requests", Map.class);
    keys.put("errors.read", Map.class);
    keys.put("errors.fetch", Map.class);
    keys.put("fetches.origin.durations.up_to", Map.class);
    for (String key :
        List.of(
            "uptime_seconds",
            "dataset.files",
            "dataset.bytes",
            "dataset.entries_loaded",
            "cache.capacity_bytes",
            "cache.resident_bytes",
            "cache.resident_items",
            "cache.admitted_items",
            "cache.refused_items",
            "cache.evicted_items",
            "cache.swapped_items",
            "cache.pin_backlog_bytes",
            "cache.planned_hit_ratio",
            "opens.total",
            "fetches.origin.items",
            "fetches.origin.bytes",
            "fetches.origin.errors",
            "fetches.origin.retries",
            "fetches.origin.limit",
            "fetches.origin.in_flight",
            "fetches.origin.queued",
            "fetches.origin.stuck",
            "fetches.origin.p50_us",
            "fetches.origin.p99_us",
            "fetches.peer.items",
            "fetches.peer.bytes",
            "fetches.peer.errors",
            "fetches.coalesced",
            "fetches.in_flight",
            "reads.requests",
            "reads.bytes",
            "reads.errors",
            "reads.stall_seconds",
            "reads.peer_stall_seconds",
            "transit.capacity_bytes",
            "transit.used_bytes",
            "transit.reclaimable_bytes",
            "transit.window_bytes",
            "transit.dropped_bytes",
            "kernel.cached_bytes",
            "dataset.scan_age_seconds",
            "fetches.origin.durations.count",
            "fetches.origin.durations.seconds",
            "process.memory_limit_bytes",
            "process.rss_anon_bytes",
            "process.locked_bytes",
            "process.heap_used_bytes",
            "process.heap_max_bytes",
            "process.direct_bytes",
            "process.threads",
            "process.descriptors",
            "process.descriptors_limit",
            "process.cpu_seconds",
            "access_log.written",
            "access_log.sampled_out",
            "access_log.dropped")) {
      keys.put(key, Number.class);
    }
    return keys;
  }

  @Test
  void controlFolder_isReachableButNeverListed() throws IOException {
    assertThat(Posix.list(RawPath.of(shared.mountpoint())))
        .isEqualTo(Posix.list(RawPath.of(sharedDataset.root())));
    assertThat(shared.path(".holdfast")).isDirectory();
    assertThat(Posix.list(RawPath.of(shared.path(".holdfast"))).stream().map(Entry::name))
        .contains(RawPath.of("config"), RawPath.of("stats"), RawPath.of("stats.json"));
    assertThat(sandbox.command("find", shared.mountpoint().toString()).out())
        .doesNotContain(".holdfast");
    assertThat(Posix.tryStat(RawPath.of(shared.path("class_00/.holdfast")))).isNegative();
  }

  @Test
  void statsCommand_json_saysTheSameKeys() {
    for (String who : List.of(shared.name(), shared.mountpoint().toString())) {
      Stats stats = Stats.parse(sandbox.holdfast("stats", "--json", who).mustSucceed().out());
      assertThat(KEYS.keySet()).allSatisfy(key -> assertThat(stats.at(key)).as(key).isNotNull());
    }
    String text = sandbox.holdfast("stats", shared.name()).mustSucceed().out();
    assertThat(text).contains(shared.mountpoint().toString()).contains("hit ratio");
    assertThat(cat(shared, "stats")).contains(shared.mountpoint().toString()).contains("hit ratio");
  }

  @Test
  void controlFiles_readAgainAndAgain_areExactInSizeAndFresh_andHaveEveryKeyWithTrueFigures()
      throws IOException {
    Path copy = sandbox.folder("copy").resolve("stats.json");
    long end = System.nanoTime() + Duration.ofSeconds(3).toNanos();
    int reads = 0;
    for (long last = -1; System.nanoTime() < end; reads++) {
      String how = reads % 3 == 0 ? "cp" : reads % 3 == 1 ? "cat" : "dd";
      Child.Result result =
          switch (how) {
            case "cp" -> sandbox.command("cp", control(shared, "stats.json"), copy.toString());
            case "cat" -> sandbox.command("cat", control(shared, "stats.json"));
            default -> sandbox.command("dd", "bs=100", "if=" + control(shared, "stats.json"));
          };
      String json = how.equals("cp") ? Files.readString(copy) : result.out();
      assertThat(result.exit()).as("%s", result).isZero();
      Stats stats = Stats.parse(json);
      assertThat(stats.number("uptime_seconds")).as(how).isGreaterThanOrEqualTo(last);
      last = stats.number("uptime_seconds");
    }
    System.out.println("control file read " + reads + " times");
    byte[] bytes = Files.readAllBytes(shared.path(".holdfast/stats.json"));
    assertThat(new String(bytes, UTF_8)).doesNotContain("\0").endsWith("\n");

    read(shared, sharedDataset);
    shared.settledStats();

    assertHasEveryKeyWithItsTypeAndTrueFigures(
        Await.value(
            FRESH_DEADLINE,
            "figures after the reading",
            () -> Stats.parse(cat(shared, "stats.json")),
            s ->
                s.originItems() == FILES
                    && s.residentItems() == FILES / 2
                    && s.number("opens.total") == FILES));
  }

  private static void assertHasEveryKeyWithItsTypeAndTrueFigures(Stats stats) {
    Map<String, String> wrong = new TreeMap<>();
    KEYS.forEach(
        (key, type) -> {
          if (!type.isInstance(stats.at(key))) {
            wrong.put(key, "is " + stats.at(key) + ", should be a " + type.getSimpleName());
          }
        });
    assertThat(wrong).isEmpty();
    assertThat(stats.at("name")).isEqualTo(shared.name());
    assertThat(stats.at("origin")).isEqualTo(sharedDataset.root().toString());
    assertThat(stats.at("mountpoint")).isEqualTo(shared.mountpoint().toString());
    assertThat(Instant.parse((String) stats.at("mounted_at"))).isBetween(begun, Instant.now());
    assertThat(stats.number("dataset.files")).isEqualTo(FILES);
    assertThat(stats.number("dataset.bytes")).isEqualTo(sharedDataset.bytes());
    assertThat(stats.at("dataset.scanned")).isEqualTo(true);
    assertThat(stats.at("cache.policy")).isEqualTo("minio");
    assertThat(stats.number("cache.capacity_bytes")).isEqualTo(sharedDataset.pageBytes() / 2);
    assertThat(stats.residentBytes()).isEqualTo(sharedDataset.pageBytes() / 2);
    assertThat(stats.number("cache.admitted_items")).isEqualTo(FILES / 2);
    assertThat(stats.number("cache.refused_items")).isEqualTo(FILES / 2);
    assertThat(stats.number("cache.evicted_items")).isZero();
    assertThat(((Number) stats.at("cache.planned_hit_ratio")).doubleValue()).isEqualTo(0.5);
    assertThat(stats.originItems()).isEqualTo(FILES);
    assertThat(stats.number("fetches.origin.bytes")).isEqualTo(sharedDataset.bytes());
    assertThat(stats.number("fetches.origin.errors")).isZero();
    assertThat(stats.number("reads.bytes")).isGreaterThanOrEqualTo(sharedDataset.bytes());
    assertThat(stats.number("reads.errors")).isZero();
    assertThat(shared.plan()).contains(FILES + " files").contains("hit ratio 0.5");
  }

  @Test
  void controlFiles_cannotBeChanged() {
    RawPath config = RawPath.of(shared.path(".holdfast/config"));

    assertThat(Posix.errorName(Posix.tryOpen(config, Posix.O_WRONLY))).isEqualTo("EROFS");
    assertThat(Posix.errorName(Posix.tryOpen(config, Posix.O_RDONLY | Posix.O_TRUNC)))
        .isEqualTo("EROFS");
  }

  @Test
  void config_tellsEachSettingAndWhereItCameFrom() {
    List<String> lines = cat(shared, "config").lines().toList();

    assertThat(line(lines, "capacity")).contains("240K").contains("--capacity");
    assertThat(line(lines, "metadata-ttl")).contains("5m").contains("--metadata-ttl");
    for (String setting :
        List.of("policy", "item-size", "pin", "window", "window-age", "transit", "count-opens")) {
      assertThat(line(lines, setting)).endsWith("default");
    }
    assertThat(line(lines, "policy")).contains("minio");
  }

  private static String line(List<String> lines, String setting) {
    return lines.stream()
        .filter(line -> line.strip().matches(setting.replace("-", "[-_]") + "\\b(?![-_]).*"))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + setting + " in " + lines));
  }

  @Test
  void attributes_ofFiles_tellWhatIsResident_andOpensThatAreNotCountedAreSaidToBe() {
    Dataset dataset =
        Dataset.create(sandbox.folder("origin"), 4, i -> new int[] {FILE_BYTES, 0, 5 << 20, 50}[i]);
    Mount mount =
        sandbox.mount(
            dataset.root(),
            "--capacity",
            Long.toString(Dataset.pageBytes(FILE_BYTES) + (2 << 20)),
            "--item-size",
            "1M",
            "--count-opens",
            "off");
    List<String> files = dataset.files();
    assertThat(files.stream().map(f -> mount.xattr(f, "resident"))).containsOnly("0");
    assertThat(mount.xattr(files.get(0), "items")).isEqualTo("0/1");
    assertThat(mount.xattr(files.get(2), "items")).isEqualTo("0/5");

    for (String file : files) {
      sandbox.command("cat", mount.path(file).toString()).mustSucceed();
      mount.settledStats();
    }

    assertThat(mount.xattr(files.get(0), "resident")).isIn("10000", "12288");
    assertThat(mount.xattr(files.get(0), "items")).isEqualTo("1/1");
    assertThat(mount.xattr(files.get(2), "resident")).isEqualTo(Integer.toString(2 << 20));
    assertThat(mount.xattr(files.get(2), "items")).isEqualTo("2/5");
    assertThat(mount.xattr(files.get(3), "resident")).isEqualTo("0");
    assertThat(mount.stats().at("opens.counted")).isEqualTo(false);
    assertThat(mount.stats().number("opens.total")).isZero();
  }

  @ParameterizedTest(name = "--count-opens {0}")
  @ValueSource(strings = {"watch", "message"})
  void opens_ofEveryProcess_areCountedExactly(String counting) {
    Dataset dataset = dataset();
    Mount mount =
        sandbox.mount(
            dataset.root(),
            "--capacity",
            Long.toString(dataset.pageBytes() / 2),
            "--count-opens",
            counting);
    Path order = dataset.permutation(sandbox, random);
    // the watcher knows the process of a thread only as long as the thread is there
    Child first = startStaying(mount, order, 1, "share");
    first.awaitLine(1, READ_DEADLINE);
    Child second = startStaying(mount, order, 3, "share");
    Child third = startStaying(mount, order, 2, "each");
    second.awaitLine(1, READ_DEADLINE);
    third.awaitLine(1, READ_DEADLINE);
    mount.awaitStats("opens of readers", s -> s.number("opens.total") >= 4L * FILES);
    for (Child reader : List.of(first, second, third)) {
      reader.tell("end");
      reader.await(READ_DEADLINE).mustSucceed();
    }
    sandbox.command("cat", mount.path(dataset.files().get(0)).toString()).mustSucceed();

    Stats stats = mount.awaitStats("all opens", s -> s.number("opens.total") >= 4L * FILES + 1);

    assertThat(stats.at("opens.counted")).isEqualTo(true);
    assertThat(stats.opensOf(first.pid())).isEqualTo(FILES);
    assertThat(stats.opensOf(second.pid())).isEqualTo(FILES);
    assertThat(stats.opensOf(third.pid())).isEqualTo(2 * FILES);
    assertThat(stats.number("opens.total")).isEqualTo(4L * FILES + 1);
    assertThat(mount.settledStats().number("opens.total")).isEqualTo(4L * FILES + 1);
  }

  private Dataset dataset() {
    return Dataset.create(sandbox.folder("origin"), FILES, i -> FILE_BYTES);
  }

  private Child.Result read(Mount mount, Dataset dataset) {
    return sandbox
        .startJava(
            Reader.class, mount.mountpoint(), dataset.permutation(sandbox, random), 1, "share")
        .await(READ_DEADLINE)
        .mustSucceed();
  }

  /** Starts a reader whose threads stay when all is read, until it is told a line. */
  private Child startStaying(Mount mount, Path order, int threads, String how) {
    return sandbox.startJava(Reader.class, mount.mountpoint(), order, threads, how, "stay");
  }

  private static String control(Mount mount, String name) {
    return mount.path(".holdfast").resolve(name).toString();
  }

  private String cat(Mount mount, String name) {
    return sandbox.command("cat", control(mount, name)).mustSucceed().out();
  }
}
