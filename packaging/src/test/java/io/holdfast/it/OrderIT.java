package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Orders of a job that reads one file after the other, of a store that takes its time, where no
 * file may stay in memory.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OrderIT {
  @RegisterExtension
  @Order(1)
  static final Bucket bucket = new Bucket();

  private static final int FILES = 500;
  private static final int FILE_BYTES = 20_000;
  private static final long BYTES_IN_PAGES = 20_480;

  private static final String PREFIX = "ordered";

  private static final Duration NEXT_DAEMON = Duration.ofSeconds(60);
  private static final Duration SLOW = Duration.ofMillis(20);

  /** The objects that all tests read. */
  private static Dataset dataset;

  @RegisterExtension
  @Order(2)
  static final Sandbox SANDBOX = new Sandbox();

  /** The mount of jobs whose orders are announced. */
  @RegisterExtension
  static final SharedMount ANNOUNCED =
      new SharedMount(() -> bucket.mount(SANDBOX, PREFIX, "--capacity", "64M", "--policy", "none"));

  private final long seed = System.nanoTime();

  @BeforeAll
  static void fill(@TempDir Path folder) {
    dataset = Dataset.create(folder, FILES, i -> FILE_BYTES);
    bucket.putAll(PREFIX, dataset);
  }

  @Test
  void job_withItsOrder_findsFilesThere_andFetchesNoneTwice() throws IOException {
    Mount mount = announced();
    MemoryCgroup group = MemoryCgroup.create(SANDBOX, "ordered");
    List<String> names = shuffled();
    long fetched = mount.stats().originItems();
    String job = jobOf(mount, group, names.get(0));

    String taken =
        SANDBOX
            .holdfast("order", mount.name(), "--job", job, list("order", names))
            .mustSucceed()
            .out();
    read(mount, group, names, FILES);

    assertThat(taken).contains("500 lines, 500 files of the dataset");
    Stats order = order(mount, job);
    assertThat(order.at("source")).isEqualTo("announced");
    assertThat(order.number("length")).isEqualTo(FILES);
    assertThat(order.number("position")).as("seed %d", seed).isEqualTo(FILES);
    assertThat(order.number("used_items")).isGreaterThan(FILES / 4);
    assertThat(order.number("surprises")).isZero();
    assertThat(mount.stats().originItems() - fetched).isBetween((long) FILES, FILES + 1L);
    clear(mount, job);
  }

  /** The next daemon has the order, and where the job is in it. */
  @Test
  void job_whoseDaemonIsKilledHalfway_isFollowedFromThere() throws IOException {
    Mount mount = announced();
    MemoryCgroup group = MemoryCgroup.create(SANDBOX, "killed");
    List<String> names = shuffled();
    String job = jobOf(mount, group, names.get(0));
    SANDBOX.holdfast("order", mount.name(), "--job", job, list("order", names)).mustSucceed();
    read(mount, group, names.subList(0, FILES / 2), FILES / 2);
    Await.until(NEXT_DAEMON, "its place is kept", () -> keptPosition(mount) == FILES / 2);

    mount.signal(Posix.SIGKILL);
    mount.findAgain(NEXT_DAEMON);
    mount.awaitStats(
        "where the job is",
        s -> order(s, job).number("position") == FILES / 2 && s.number("opens.total") == 0);
    mount.awaitStats("opens are counted", s -> Boolean.TRUE.equals(s.at("opens.counted")));
    read(mount, group, names.subList(FILES / 2, FILES), FILES / 2);

    Stats order = order(mount, job);
    assertThat(order.at("source")).as("seed %d", seed).isEqualTo("announced");
    assertThat(order.number("length")).isEqualTo(FILES);
    assertThat(order.number("position")).isEqualTo(FILES);
    assertThat(order.number("used_items")).isGreaterThan(FILES / 8);
    assertThat(order.number("surprises")).isZero();
    clear(mount, job);
  }

  /** Returns the only place that is kept; -1 if there is none. */
  private static long keptPosition(Mount mount) {
    try (Stream<Path> files = Files.list(mount.state().resolve("orders"))) {
      List<Path> places = files.filter(file -> file.toString().endsWith(".place")).toList();
      return places.size() == 1 ? ByteBuffer.wrap(Files.readAllBytes(places.get(0))).getInt(4) : -1;
    } catch (IOException e) {
      return -1;
    }
  }

  @Test
  void job_withAWrongOrder_fetchesAtMostFivePercentMore() throws IOException {
    Mount mount = announced();
    MemoryCgroup group = MemoryCgroup.create(SANDBOX, "wrong");
    List<String> names = shuffled();
    long fetched = mount.stats().originItems();
    List<String> reversed = new ArrayList<>(names);
    Collections.reverse(reversed);
    reversed.add("none");
    String job = jobOf(mount, group, names.get(0));

    String taken =
        SANDBOX
            .holdfast("order", mount.name(), "--job", job, list("order", reversed))
            .mustSucceed()
            .out();
    read(mount, group, names, FILES);

    assertThat(taken).contains("no such files: 1, such as 'none'");
    assertThat(mount.stats().originItems() - fetched)
        .as("seed %d", seed)
        .isBetween((long) FILES, FILES * 105L / 100);
    SANDBOX.holdfast("order", mount.name(), "--job", job, "--clear").mustSucceed();
    assertThat(mount.stats().list("orders")).isEmpty();
  }

  /** The job reads a list, as a validation does, and then the same list again. */
  @Test
  void job_thatReadsTheSameListAgain_findsFilesThere_andFetchesNoneTwice() throws IOException {
    Mount mount =
        bucket.mount(SANDBOX, PREFIX, "--capacity", "64M", "--policy", "none", "--orders", "learn");
    MemoryCgroup group = MemoryCgroup.create(SANDBOX, "again");
    List<String> names = shuffled();
    mount.awaitStats("the scan's end", s -> Boolean.TRUE.equals(s.at("dataset.scanned")));

    cat(mount, group, names);
    mount.awaitStats("all opens", s -> s.number("opens.total") >= FILES);
    assertThat(mount.stats().list("orders")).as("read once").isEmpty();
    mount.awaitStats("what was read is dropped", s -> s.number("transit.window_bytes") == 0);
    read(mount, group, names, FILES);

    Stats order = mount.stats().list("orders").get(0);
    assertThat(order.at("source")).as("seed %d", seed).isEqualTo("learned");
    assertThat(order.at("job")).asString().endsWith(group.name());
    assertThat(order.number("used_items")).isGreaterThan(FILES / 4);
    assertThat(order.number("surprises")).isZero();
    assertThat(mount.stats().originItems())
        .as("seed %d", seed)
        .isBetween(2L * FILES, 2L * FILES + FILES / 20);
  }

  /**
   * The job reads one list again and again, with room for 65 %: the residents, at first the
   * beginning of the list, are spread over it, and no pass fetches more than what has no room. Nor
   * does any order that comes after it. The window is small, since an item that is fetched further
   * ahead than the residents lie that are to make way takes the place of none.
   */
  @Test
  void job_thatReadsOneListAgainAndAgain_hasItsResidentsSpread_andAllItsHits() throws IOException {
    int room = FILES * 65 / 100;
    Mount mount =
        bucket.mount(
            SANDBOX,
            PREFIX,
            "--orders",
            "learn",
            "--window",
            "64K",
            "--window-age",
            "500ms",
            "--capacity",
            Long.toString(room * BYTES_IN_PAGES));
    MemoryCgroup group = MemoryCgroup.create(SANDBOX, "spread");
    List<String> names = shuffled();
    mount.awaitStats("the scan's end", s -> Boolean.TRUE.equals(s.at("dataset.scanned")));

    assertThat(fetches(mount, group, names)).isEqualTo(FILES);
    assertThat(tenths(mount, names)).as("what came first").startsWith(50L, 50L).endsWith(0L, 0L);
    for (int pass = 2; pass <= 4; pass++) {
      assertThat(fetches(mount, group, names))
          .as("pass %d, seed %d", pass, seed)
          .isEqualTo(FILES - room);
    }
    assertThat(tenths(mount, names))
        .as("seed %d", seed)
        .allSatisfy(residents -> assertThat(residents).isBetween(31L, 34L));
    long swaps = mount.stats().number("cache.swapped_items");
    assertThat(swaps).isBetween(100L, 120L);
    assertThat(mount.stats().number("cache.evicted_items")).isEqualTo(swaps);
    assertThat(mount.stats().number("cache.resident_items")).isEqualTo(room);

    Collections.shuffle(names, new Random(seed + 1));
    assertThat(fetches(mount, group, names))
        .as("what was fetched ahead in the order of before is 4 %% at most, seed %d", seed)
        .isBetween((long) FILES - room, FILES - room + (FILES - room) / 25L);
    MemoryCgroup other = MemoryCgroup.create(SANDBOX, "other");
    for (int pass = 1; pass <= 3; pass++) {
      assertThat(fetches(mount, other, names)).as("another job").isEqualTo(FILES - room);
    }
    assertThat(mount.stats().number("cache.swapped_items")).as("in company").isEqualTo(swaps);
  }

  /** Reads a list once; returns how many files were fetched. */
  private long fetches(Mount mount, MemoryCgroup group, List<String> names) {
    mount.awaitStats("what was read is dropped", s -> s.number("transit.window_bytes") == 0);
    long before = mount.stats().originItems();
    long opens = mount.stats().number("opens.total");
    cat(mount, group, names);
    mount.awaitStats("all opens", s -> s.number("opens.total") >= opens + names.size());
    return mount.stats().originItems() - before;
  }

  /** Returns how many files of each tenth of a list are resident. */
  private static List<Long> tenths(Mount mount, List<String> names) {
    int tenth = names.size() / 10;
    return IntStream.range(0, 10)
        .mapToObj(
            i ->
                names.subList(i * tenth, (i + 1) * tenth).stream()
                    .filter(name -> !mount.xattr(name, "resident").equals("0"))
                    .count())
        .toList();
  }

  /** Returns the mount of announced orders, with nothing of an earlier test in its window. */
  private static Mount announced() {
    Mount mount = ANNOUNCED.get();
    mount.settledStats();
    mount.awaitStats("what was read is dropped", s -> s.number("transit.window_bytes") == 0);
    return mount;
  }

  private List<String> shuffled() {
    List<String> names = new ArrayList<>(dataset.files());
    Collections.shuffle(names, new Random(seed));
    return names;
  }

  private String list(String name, List<String> lines) throws IOException {
    Path list = SANDBOX.root().resolve(name);
    Files.write(list, lines);
    return list.toString();
  }

  /** Reads files, where each takes the store a while, until so many opens more are counted. */
  private void read(Mount mount, MemoryCgroup group, List<String> names, long opens) {
    long before = mount.stats().number("opens.total");
    bucket.proxy().delay(SLOW);
    try {
      cat(mount, group, names);
    } finally {
      bucket.proxy().delay(Duration.ZERO);
    }
    mount.awaitStats("all opens", s -> s.number("opens.total") >= before + opens);
  }

  private void cat(Mount mount, MemoryCgroup group, List<String> names) {
    List<String> command = new ArrayList<>(group.enter());
    command.add("cat");
    names.forEach(name -> command.add(mount.path(name).toString()));
    SANDBOX.run(Map.of(), command).mustSucceed();
  }

  /** Returns the name of the group's job, once its first open is counted. */
  private String jobOf(Mount mount, MemoryCgroup group, String file) {
    mount.awaitStats("the scan's end", s -> Boolean.TRUE.equals(s.at("dataset.scanned")));
    long before = mount.stats().number("opens.total");
    List<String> command = new ArrayList<>(group.enter());
    command.addAll(List.of("cat", mount.path(file).toString()));
    SANDBOX.run(Map.of(), command).mustSucceed();
    Stats stats = mount.awaitStats("an open", s -> s.number("opens.total") > before);
    return stats.list("jobs.jobs").stream()
        .map(each -> String.valueOf(each.at("job")))
        .filter(name -> name.endsWith(group.name()))
        .findFirst()
        .orElseThrow();
  }

  private static Stats order(Mount mount, String job) {
    return order(mount.stats(), job);
  }

  /** Returns the figures of a job's order, which must be the only one. */
  private static Stats order(Stats stats, String job) {
    List<Stats> orders = stats.list("orders");
    assertThat(orders).hasSize(1);
    assertThat(orders.get(0).at("job")).isEqualTo(job);
    return orders.get(0);
  }

  /** Has the mount forget an order, without the command's process. */
  private static void clear(Mount mount, String job) {
    String request = "{\"command\":\"order\",\"clear\":\"%s\"}".formatted(job);
    assertThat(ControlSocket.ask(mount.name(), request)).contains("\"ok\":true");
    assertThat(mount.stats().list("orders")).isEmpty();
  }
}
