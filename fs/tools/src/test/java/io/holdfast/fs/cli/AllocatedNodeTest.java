package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.allocate.node.Reservations;
import io.holdfast.fs.allocate.node.WatchLock;
import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.control.ControlServer;
import io.holdfast.fs.daemon.Version;
import io.holdfast.fs.host.FakeHost;
import io.holdfast.fs.linux.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code holdfast allocate} with daemons that have figures and no mount. */
@Execution(ExecutionMode.CONCURRENT)
class AllocatedNodeTest {
  private static final long MB = 1_000_000;
  private static final long GB = 1000 * MB;
  private static final long JOB_OPENS = 3000;

  @TempDir Path temp;
  private final List<AutoCloseable> open = new ArrayList<>();
  private final List<String> set = new CopyOnWriteArrayList<>();
  private final Map<String, Map<String, Object>> told = new ConcurrentHashMap<>();
  private FakeHost host;
  private CliRun run;

  @BeforeEach
  void prepare() throws IOException {
    temp = temp.toRealPath();
    host = new FakeHost(temp.resolve("run"));
    host.configurationDirectories.add(Files.createDirectory(temp.resolve("etc")));
    run = new CliRun(host);
  }

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable resource : open) {
      resource.close();
    }
  }

  /** A daemon whose job reads 1 GB from an origin of 50 MB/s, and is bound by its accelerator. */
  private class FakeDaemon extends FakeCommands {
    final String name;
    String version = Version.VERSION;
    boolean counted = true;

    /** How long ago its job read something, if that has ended. */
    OptionalDouble ended = OptionalDouble.empty();

    /** Whether the process is alive that may start its next processes. */
    boolean parentAlive;

    long pinned;
    long memoryMin;
    String policy = "minio";

    /** Of the memory's guard. */
    String state = "ok";

    long files = 1000;

    /** The process of its job that reads, and how long it has waited for this mount. */
    long pid;

    double stalled;

    /** Whether its capacity is its part of the node's budget. */
    boolean joined;

    String refusal = "";
    String origin = "";
    int epochs = 3;
    boolean hadAnotherJob;

    /** The opens of processes that nobody could look up. */
    long unknownOpens;

    /** How long ago they read something, if it is known that they have ended. */
    OptionalDouble unknownEnded = OptionalDouble.empty();

    volatile long capacity;

    /** In the place of its figures, where there is any. */
    volatile Map<?, ?> garbage = Map.of();

    /** Bytes per second that the accelerator takes. */
    final long demand;

    private final AutoCloseable server;

    FakeDaemon(String name, long capacity, long demand) throws IOException {
      this(host.control, name, capacity, demand);
    }

    FakeDaemon(ControlDirectory control, String name, long capacity, long demand)
        throws IOException {
      this.name = name;
      this.capacity = capacity;
      this.demand = demand;
      server = ControlServer.start(control, name, Path.of("/mnt", name), this);
      open.add(server);
    }

    void end() throws Exception {
      open.remove(server);
      server.close();
    }

    @Override
    @SuppressWarnings("unchecked")
    public Map<String, Object> stats() {
      if (!garbage.isEmpty()) {
        return (Map<String, Object>) garbage;
      }
      Map<String, Object> stats = new LinkedHashMap<>();
      stats.put("name", name);
      stats.put("version", version);
      stats.put("origin", origin);
      stats.put("dataset", Map.of("files", files, "bytes", GB));
      stats.put(
          "cache",
          Map.of(
              "policy",
              policy,
              "capacity_bytes",
              capacity,
              "resident_bytes",
              capacity,
              "kept_bytes",
              pinned,
              "capacity_of_node_budget",
              joined));
      stats.put("memory", Map.of("min_bytes", memoryMin, "state", state));
      stats.put(
          "processes",
          List.of(Map.of("pid", pid, "job", "train", "opens", 5L, "stall_seconds", stalled)));
      stats.put("opens", Map.of("counted", counted, "total", 5));
      List<Object> jobs = new ArrayList<>();
      if (epochs > 0) {
        jobs.add(job());
      }
      if (hadAnotherJob) {
        jobs.add(
            Map.of(
                "job",
                "earlier",
                "ended_seconds",
                1000.0,
                "opens",
                1000L,
                "epochs",
                List.of(pass(1, 1))));
      }
      if (unknownOpens > 0) {
        // those with the most opens come first
        jobs.add(unknownOpens > JOB_OPENS ? 0 : jobs.size(), unknown());
      }
      stats.put("jobs", Map.of("by", "tree", "jobs", jobs));
      return stats;
    }

    /** The second epoch had all in memory, so that the accelerator's rate is known. */
    private Map<String, Object> job() {
      List<Object> passes = new ArrayList<>();
      for (int i = 1; i <= epochs; i++) {
        passes.add(pass(i, i == 2 ? 0 : Math.max(0, 1 - (double) capacity / GB)));
      }
      Map<String, Object> job = new LinkedHashMap<>();
      job.put("job", "train");
      ended.ifPresent(seconds -> job.put("ended_seconds", seconds));
      job.put("parent_alive", parentAlive);
      job.put("opens", JOB_OPENS);
      job.put(
          "split_seconds",
          Map.of("fetch_origin", 20.0, "preparation", 10.0, "back_pressure", 70.0));
      job.put("epochs", passes);
      return job;
    }

    /** Of processes that nobody saw, the time on processors is not known. */
    private Map<String, Object> unknown() {
      Map<String, Object> pass = pass(1, 0);
      pass.put("opens", unknownOpens);
      List.of("cpu_seconds", "reader_cpu_seconds", "reader_seconds", "readers")
          .forEach(pass::remove);
      Map<String, Object> job = new LinkedHashMap<>();
      job.put("job", "unknown");
      unknownEnded.ifPresent(seconds -> job.put("ended_seconds", seconds));
      job.put("opens", unknownOpens);
      job.put("epochs", List.of(pass));
      return job;
    }

    private Map<String, Object> pass(int number, double missed) {
      double fetch = missed * GB / (50.0 * MB);
      double seconds = Math.max(fetch, (double) GB / demand);
      Map<String, Object> pass = new LinkedHashMap<>();
      pass.put("epoch", number);
      pass.put("opens", 1000L);
      pass.put("seconds", seconds);
      pass.put("bytes", GB);
      pass.put("misses", (long) (missed * 1000));
      pass.put("origin_bytes", (long) (missed * GB));
      // those who wait for their accelerator seldom wait for the origin at the same time
      double waiting = fetch < seconds ? 1.3 : 0.95 * 8;
      pass.put("origin_stall_seconds", waiting * fetch);
      pass.put("cpu_seconds", 0.5);
      pass.put("reader_cpu_seconds", 0.5);
      pass.put("reader_seconds", 8 * seconds);
      pass.put("readers", 8);
      return pass;
    }

    @Override
    public Map<String, Object> allocation(Map<String, Object> request) {
      told.put(name, request);
      return Map.of();
    }

    @Override
    public Map<String, Object> task(Map<String, Object> request) throws FsException {
      if (!"capacity".equals(request.get("begin"))) {
        throw new FsException(FsError.UNSUPPORTED, "no such task");
      }
      if (!refusal.isEmpty()) {
        return Map.of("id", 1, "state", "failed", "error", refusal);
      }
      capacity = Long.parseLong(String.valueOf(request.get("size")));
      set.add(name);
      return Map.of("id", 1, "state", "done", "seconds", 1.0);
    }
  }

  /** Adds a daemon that does not answer. The others have far more time than they take. */
  private void hung(ControlDirectory control) throws IOException {
    open.add(new SilentDaemon(control, "hung"));
    run.answer = Duration.ofSeconds(2);
  }

  private Map<String, Object> json(String... words) throws IOException {
    List<String> all = new ArrayList<>(List.of("allocate", "--json"));
    all.addAll(List.of(words));
    assertThat(run.run(all.toArray(String[]::new))).as("%s", run.err).isZero();
    return JSON.std.mapFrom(run.out.toString());
  }

  private static Map<?, ?> mount(Map<?, ?> all, String name) {
    return ((List<?>) all.get("mounts"))
        .stream()
            .map(each -> (Map<?, ?>) each)
            .filter(each -> name.equals(each.get("name")))
            .findFirst()
            .orElseThrow();
  }

  private static double number(Map<?, ?> mount, String key) {
    return ((Number) mount.get(key)).doubleValue();
  }

  /** With 0.86 of it in memory, its origin gave 8.4 MB/s, and nobody waited. */
  @ParameterizedTest
  @CsvSource({"false, 16.8e6", "true, 50e6"})
  void jobThatHardlyWaits_isJudgedByAnotherJobThatDid(boolean other, double rate)
      throws IOException {
    new FakeDaemon("slow", 860 * MB, 60 * MB).hadAnotherJob = other;

    assertThat(number(mount(json(), "slow"), "origin_bytes_per_second"))
        .isCloseTo(rate, withinPercentage(10));
  }

  private void file(String text) throws IOException {
    Files.writeString(temp.resolve("etc/node.yaml"), text);
  }

  /** The worked case: an accelerator of 200 MB/s and one of 60, memory for one dataset. */
  @Test
  void twoMounts_getWhatTheirJobsNeed() throws IOException {
    new FakeDaemon("fast", GB / 2, 200 * MB);
    new FakeDaemon("slow", GB / 2, 60 * MB);

    Map<String, Object> all = json();

    assertThat(all.get("budget_bytes")).isEqualTo((int) GB);
    Map<?, ?> fast = mount(all, "fast");
    assertThat(number(fast, "demand_bytes_per_second")).isBetween(195e6, 205e6);
    assertThat(number(fast, "origin_bytes_per_second")).isBetween(47e6, 53e6);
    assertThat(number(fast, "speed_now")).isBetween(90e6, 105e6);
    assertThat(number(fast, "speed_proposed")).isBetween(195e6, 205e6);
    assertThat(fast.get("bound_by")).isEqualTo("accelerator");
    Map<?, ?> slow = mount(all, "slow");
    assertThat(number(slow, "speed_now")).isBetween(58e6, 62e6);
    assertThat(number(slow, "speed_proposed")).isBetween(58e6, 62e6);
    assertThat(number(slow, "proposed_bytes")).isLessThan(GB / 3.0);
    assertThat(number(fast, "proposed_bytes") + number(slow, "proposed_bytes"))
        .isLessThanOrEqualTo(1e9);
    assertThat(set).isEmpty();
  }

  @Test
  void text_saysWhatIsProposed() throws IOException {
    new FakeDaemon("fast", GB / 2, 200 * MB);
    new FakeDaemon("slow", GB / 2, 60 * MB);

    assertThat(run.run("allocate")).as("%s", run.err).isZero();
    assertThat(run.out.toString())
        .startsWith("mount  dataset")
        .contains("\nThe budget is 954 MiB, of which the mounts have 954 MiB. Together ")
        .endsWith("'holdfast allocate --apply' sets the capacities.\n");
  }

  @Test
  void apply_shrinksFirst_andSaysWhatWasDone() throws IOException {
    FakeDaemon fast = new FakeDaemon("fast", GB / 2, 200 * MB);
    FakeDaemon slow = new FakeDaemon("slow", GB / 2, 60 * MB);

    assertThat(run.run("allocate", "--apply")).as("%s", run.err).isZero();

    assertThat(set).containsExactly("slow", "fast");
    assertThat(fast.capacity + slow.capacity).isLessThanOrEqualTo(GB);
    assertThat(fast.capacity).isGreaterThan(7 * GB / 10);
    assertThat(run.out.toString())
        .contains("\nslow has ", "\nfast has ", "\n2 of 2 capacities are set: together the mounts");
    assertThat(told.get("fast"))
        .containsEntry("budget_bytes", (int) GB)
        .containsEntry("fair_share_bytes", (int) (GB / 2 - 4096))
        .containsEntry("proposed_bytes", (int) fast.capacity)
        .containsEntry("changed", true);
    assertThat(told.get("slow")).containsEntry("changed", true);
    set.clear();
    assertThat(run.run("allocate", "--apply")).as("%s", run.err).isZero();
    assertThat(set).isEmpty();
    assertThat(run.out.toString()).contains("It is divided well: nothing is to change.");
    assertThat(told.get("fast")).containsEntry("changed", false);
  }

  /** Without --apply, daemons hear nothing. */
  @Test
  void proposal_isNotToldToDaemons() throws IOException {
    new FakeDaemon("fast", GB / 2, 200 * MB);

    assertThat(run.run("allocate")).isZero();

    assertThat(told).isEmpty();
  }

  /** A mount that keeps its memory leaves none for the other. */
  @Test
  void apply_aMountThatRefuses_isTold_andTheBudgetHolds() throws IOException {
    FakeDaemon fast = new FakeDaemon("fast", GB / 2, 200 * MB);
    FakeDaemon slow = new FakeDaemon("slow", GB / 2, 60 * MB);
    slow.refusal = "not now";

    assertThat(run.run("allocate", "--apply")).isEqualTo(1);

    assertThat(fast.capacity).isEqualTo(GB / 2);
    assertThat(run.err.toString())
        .hasLineCount(2)
        .contains("holdfast: slow keeps 477 MiB in place of ", ": not now\n")
        .contains("holdfast: fast keeps 477 MiB in place of ")
        .contains(": others have not given up the memory for it\n");
    assertThat(run.out.toString()).contains("0 of 2 capacities are set: together the mounts have");
  }

  /** A mount grows by the memory that another one has given up, though a third one refuses. */
  @Test
  void apply_whereOneRefuses_theOthersGoOnAsFarAsThereIsRoom() throws IOException {
    FakeDaemon gives = new FakeDaemon("gives", 400 * MB, 20 * MB);
    FakeDaemon grows = new FakeDaemon("grows", 100 * MB, 200 * MB);
    FakeDaemon refuses = new FakeDaemon("refuses", 400 * MB, 20 * MB);
    refuses.refusal = "not now";

    assertThat(run.run("allocate", "--apply", "--json")).isEqualTo(1);

    assertThat(gives.capacity).isLessThan(200 * MB);
    assertThat(grows.capacity)
        .isBetween(500 * MB - gives.capacity - 4096, 500 * MB - gives.capacity);
    Map<?, ?> last =
        (Map<?, ?>) ((List<?>) JSON.std.mapFrom(run.out.toString()).get("applied")).get(2);
    assertThat(last.get("name")).isEqualTo("grows");
    assertThat(last.get("done")).isEqualTo(true);
    assertThat(last.get("to_bytes")).isEqualTo((int) grows.capacity);
  }

  @Test
  void apply_json_hasWhatWasDone() throws IOException {
    new FakeDaemon("fast", GB / 2, 200 * MB);
    new FakeDaemon("slow", GB / 2, 60 * MB).refusal = "not now";

    assertThat(run.run("allocate", "--apply", "--json")).isEqualTo(1);
    List<?> applied = (List<?>) JSON.std.mapFrom(run.out.toString()).get("applied");
    assertThat(applied).hasSize(2);
    Map<?, ?> first = (Map<?, ?>) applied.get(0);
    assertThat(first.get("name")).isEqualTo("slow");
    assertThat(first.get("done")).isEqualTo(false);
    assertThat(first.get("error")).isEqualTo("not now");
  }

  @Test
  void mountsThatCannotBeJudged_areLeftAsTheyAre_andToldInALineEach() throws IOException {
    FakeDaemon fast = new FakeDaemon("fast", GB / 2, 200 * MB);
    new FakeDaemon("old", GB / 4, 60 * MB).version = "0.0.1";
    new FakeDaemon("uncounted", GB / 4, 60 * MB).counted = false;
    new FakeDaemon("fresh", GB / 4, 60 * MB).epochs = 0;
    hung(host.control);
    Files.writeString(host.control.processFile("dead"), "4711\n/mnt/dead\n");

    assertThat(run.run("allocate", "--budget", "2GB", "--apply")).as("%s", run.err).isZero();

    assertThat(run.out.toString())
        .contains("old is left as it is, with 238 MiB: its daemon has version 0.0.1, and this is")
        .contains("uncounted is left as it is, with 238 MiB: its opens are not counted")
        .contains("fresh is left as it is, with 238 MiB: no job has read from it yet\n")
        .contains("hung is left as it is, with 0 B: its daemon does not answer, and what it has")
        .contains("dead is left as it is, with 0 B: its daemon has died, and what it has");
    assertThat(set).containsExactly("fast");
    assertThat(fast.capacity).isBetween(7 * GB / 10, 2 * GB - 3 * (GB / 4));
  }

  /** Memory that is reserved for a mount is not given to another. */
  @Test
  void mountThatDoesNotAnswerYet_keepsWhatIsReserved() throws Exception {
    FakeDaemon fast = new FakeDaemon("fast", GB / 4, 200 * MB);
    try (Reservations turn = Reservations.await(new CliContext(host))) {
      open.add(turn.reserve("begun", new Reservations.Reserved(GB / 2, true)));
    }

    assertThat(run.run("allocate", "--budget", "1GB", "--apply")).as("%s", run.err).isZero();

    assertThat(run.out.toString())
        .contains("begun is left as it is, with 477 MiB: it does not answer yet\n");
    assertThat(fast.capacity).isBetween(GB / 2 - 3 * 4096, GB / 2);
  }

  @ParameterizedTest
  @CsvSource({"60, false", "1800, true"})
  void mountWhoseJobHasEnded_givesWhatOthersNeed_andKeepsTheRest(double ended, boolean parentAlive)
      throws IOException {
    FakeDaemon done = new FakeDaemon("done", GB, 200 * MB);
    done.ended = OptionalDouble.of(ended);
    done.parentAlive = parentAlive;
    new FakeDaemon("fast", GB / 2, 200 * MB);

    Map<String, Object> all = json();

    double fast = number(mount(all, "fast"), "proposed_bytes");
    double left = number(mount(all, "done"), "proposed_bytes");
    assertThat(fast).isBetween(0.7e9, 0.8e9);
    assertThat(fast + left).isBetween(1.5e9 - 8192, 1.5e9);
    assertThat(mount(all, "done").get("reason")).isEqualTo("its jobs have ended");
  }

  /** The workers of an epoch have ended, and those of the next one have yet to begin. */
  @ParameterizedTest
  @CsvSource({"59, false", "1799, true"})
  void mountWhoseJobHasNoProcessForAMoment_keepsItsPart(double ended, boolean parentAlive)
      throws IOException {
    FakeDaemon between = new FakeDaemon("between", 800 * MB, 200 * MB);
    between.ended = OptionalDouble.of(ended);
    between.parentAlive = parentAlive;
    new FakeDaemon("fast", GB / 2, 200 * MB);

    Map<String, Object> all = json();

    assertThat(number(mount(all, "between"), "proposed_bytes")).isGreaterThan(0.6e9);
    assertThat(mount(all, "between").get("reason")).isNotEqualTo("its jobs have ended");
  }

  /**
   * The row {@code unknown} may be a {@code cat} that was gone at once, or a job that the daemon
   * cannot see. A mount is judged by its own job, and gives its memory when that has ended, unless
   * a job that nobody sees may read it.
   */
  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        // the job, and the opens and the end of processes that nobody saw
        "1000, 1, 1000, its jobs have ended",
        "1000, 9000, 1000, its jobs have ended",
        "-, 9000, 10, the demand is met: more would bring nothing",
        "-, 1, -, the demand is met: more would bring nothing",
        "30, 9000, 10, the demand is met: more would bring nothing",
        "30, 1, -, the demand is met: more would bring nothing",
        "1000, 1, 10, -",
        "1000, 1, -, -",
        "30, 9000, -, -",
        "-, 9000, -, -"
      })
  void processesThatNobodySaw_countOnlyWhereTheyMayBeAJob(
      @Nullable Double ended, long opens, @Nullable Double unknownEnded, @Nullable String reason)
      throws IOException {
    FakeDaemon daemon = new FakeDaemon("mount", GB / 2, 200 * MB);
    daemon.ended = optional(ended);
    daemon.unknownOpens = opens;
    daemon.unknownEnded = optional(unknownEnded);

    Map<String, Object> all = json("--budget", "2GB");

    if (reason == null) {
      assertThat((List<?>) all.get("left")).hasSize(1);
    } else {
      assertThat(mount(all, "mount").get("reason")).isEqualTo(reason);
    }
  }

  private static OptionalDouble optional(@Nullable Double number) {
    return number == null ? OptionalDouble.empty() : OptionalDouble.of(number);
  }

  @Test
  void pinnedFiles_stay() throws IOException {
    FakeDaemon done = new FakeDaemon("done", GB, 200 * MB);
    done.ended = OptionalDouble.of(1000);
    done.pinned = 900 * MB;
    new FakeDaemon("fast", GB / 2, 200 * MB);

    assertThat(number(mount(json(), "done"), "proposed_bytes"))
        .isGreaterThanOrEqualTo(900e6 - 4096);
  }

  /** The daemon refused less, so that each --apply failed. */
  @Test
  void pinnedFiles_comeBeforeTheCeiling() throws IOException {
    new FakeDaemon("kept", 900 * MB, 200 * MB).pinned = 800 * MB;
    new FakeDaemon("fast", GB / 2, 200 * MB);
    file("mounts: {kept: {capacity-max: 100MB}}");

    assertThat(number(mount(json(), "kept"), "proposed_bytes")).isBetween(800e6, 801e6);
  }

  /** It would get memory in which nothing becomes resident. */
  @Test
  void mountWhosePolicyKeepsNothing_givesWhatItHas() throws IOException {
    new FakeDaemon("none", 900 * MB, 200 * MB).policy = "none";
    new FakeDaemon("fast", 100 * MB, 200 * MB);

    Map<String, Object> all = json();

    assertThat(mount(all, "none").get("reason")).isEqualTo("its --policy none keeps nothing");
    assertThat(number(mount(all, "fast"), "proposed_bytes")).isGreaterThan(0.7e9);
  }

  @ParameterizedTest
  @CsvSource({"ok, 700e6, 800e6", "limited, 499e6, 500e6"})
  void mountWhoseMemoryOthersNeed_doesNotGrow(String state, double least, double most)
      throws IOException {
    new FakeDaemon("fast", GB / 2, 200 * MB).state = state;
    new FakeDaemon("slow", GB / 2, 60 * MB);

    assertThat(number(mount(json(), "fast"), "proposed_bytes")).isBetween(least, most);
  }

  /** 300 bytes a file: the proposal was a fifth of what the dataset takes in memory. */
  @Test
  void filesThatAreSmallerThanAPage_takeAPageEach() throws IOException {
    new FakeDaemon("small", GB / 2, 200 * MB).files = GB / 300;

    assertThat(number(mount(json(), "small"), "dataset_bytes"))
        .isCloseTo(GB / 300.0 * 4096, withinPercentage(1));
  }

  /** Each mount takes the time in which the job waits for the other one for back-pressure. */
  @ParameterizedTest
  @CsvSource({"41, 30, true", "41, 5, false", "42, 30, false"})
  void jobThatAlsoWaitsForAnotherMount_cannotBeJudged(long pid, double stalled, boolean waits)
      throws IOException {
    FakeDaemon images = new FakeDaemon("images", GB / 2, 200 * MB);
    images.pid = 41;
    FakeDaemon labels = new FakeDaemon("labels", GB / 2, 200 * MB);
    labels.pid = pid;
    labels.stalled = stalled;

    assertThat(run.run("allocate")).as("%s", run.err).isZero();

    String line = "images is left as it is, with 477 MiB: its job also waits for files of 'labels'";
    assertThat(run.out.toString().contains(line)).isEqualTo(waits);
    assertThat(run.out.toString()).doesNotContain("labels is left as it is");
  }

  /** A daemon would not start again with a capacity below its --memory-min. */
  @ParameterizedTest
  @CsvSource({
    "1000, 400000001, false, 400000001",
    "1000, 0, true, 67108864",
    "-1, 400000001, false, 400000001"
  })
  void floor_coversTheMinimumOfMemory_andOfTheNodesBudget(
      double ended, long memoryMin, boolean joined, long floor) throws IOException {
    FakeDaemon keeps = new FakeDaemon("keeps", floor + 50 * MB, 20 * MB);
    keeps.ended = ended < 0 ? OptionalDouble.empty() : OptionalDouble.of(ended);
    keeps.memoryMin = memoryMin;
    keeps.joined = joined;
    new FakeDaemon("fast", GB / 2, 200 * MB);

    Map<String, Object> all = json("--budget", Long.toString(floor + GB / 2));

    assertThat(number(mount(all, "keeps"), "proposed_bytes"))
        .isBetween(floor + 0.0, floor + 2 * 4096.0);
  }

  @Test
  void nodeFile_hasTheBudgetAndBounds() throws IOException {
    new FakeDaemon("fast", GB / 2, 200 * MB);
    new FakeDaemon("slow", GB / 2, 60 * MB);
    file(
        """
        memory: 900MB
        mounts:
          fast: {capacity-max: 400MB}
          slow: {capacity-min: 300MB, weight: 2}
          other: {weight: 3}
        """);

    Map<String, Object> all = json();

    assertThat(all.get("budget_bytes")).isEqualTo((int) (900 * MB));
    assertThat(number(mount(all, "fast"), "proposed_bytes")).isBetween(399e6, 400e6);
    assertThat(mount(all, "fast").get("reason")).isEqualTo("at its capacity-max");
    assertThat(number(mount(all, "slow"), "proposed_bytes")).isGreaterThanOrEqualTo(299.9e6);
    run.out.getBuffer().setLength(0);
    assertThat(json("--budget", "1GB").get("budget_bytes")).isEqualTo((int) GB);
  }

  /** The memory of the machine is root's to divide; what its file says of a mount holds for all. */
  @Test
  void userOtherThanRoot_hasNoPartOfTheMachinesMemory() throws IOException {
    host.uid = 7;
    new FakeDaemon("fast", GB / 2, 200 * MB);
    new FakeDaemon("slow", GB / 4, 60 * MB);
    file("memory: 50GB\nmounts:\n  fast: {capacity-max: 400MB}\n");

    Map<String, Object> all = json();

    assertThat(all.get("budget_bytes")).isEqualTo((int) (GB / 2 + GB / 4));
    assertThat(number(mount(all, "fast"), "proposed_bytes")).isBetween(399e6, 400e6);
  }

  /** A mount of another user may have the name of one of root's. */
  @Test
  void root_leavesOtherUsersTheMemoryThatTheyHave() throws IOException {
    ControlDirectory user = ControlDirectory.at(temp.resolve("user"));
    host.controlOfOthers.add(user);
    FakeDaemon fast = new FakeDaemon("fast", GB / 4, 200 * MB);
    FakeDaemon others = new FakeDaemon(user, "fast", GB / 2, 200 * MB);
    hung(user);
    file("memory: 1GB\n");

    assertThat(run.run("allocate", "--apply")).as("%s", run.err).isZero();

    assertThat(fast.capacity).isBetween(GB / 2 - 2 * 4096, GB / 2);
    assertThat(others.capacity).isEqualTo(GB / 2);
    assertThat(run.out.toString())
        .contains(
            "(other users) is left as it is, with 477 MiB: 2 mounts of other users, 1 of them"
                + " without an answer\n");
  }

  /** Without a budget for the machine, root's mounts share what they have. */
  @Test
  void root_withoutABudget_doesNotCountOtherUsers() throws IOException {
    ControlDirectory user = ControlDirectory.at(temp.resolve("user"));
    host.controlOfOthers.add(user);
    new FakeDaemon("fast", GB / 4, 200 * MB);
    new FakeDaemon(user, "others", GB / 2, 200 * MB);

    assertThat(json().get("budget_bytes")).isEqualTo((int) (GB / 4));
  }

  @Test
  void sharedOrigin_isDividedByTheModel() throws IOException {
    new FakeDaemon("fast", GB / 2, 200 * MB);
    new FakeDaemon("slow", GB / 2, 60 * MB);
    file("mounts:\n  fast: {origin: nas}\n  slow: {origin: nas}\n");

    Map<?, ?> fast = mount(json(), "fast");

    assertThat(fast.get("origin")).isEqualTo("nas");
    // each reads 25 to 50 MB/s of it now
    assertThat(number(fast, "origin_bytes_per_second")).isBetween(70e6, 105e6);
  }

  /** The store is what is mounted below the mount, and of a file server it is the server. */
  @ParameterizedTest
  @CsvSource({
    "/data/a, /data/b, 'a and b read from the same store, /dev/sdx: '",
    "/nfs/one/a, /nfs/two, 'a and b read from the same store, filer: '",
    "s3://data/a, s3://data/b, 'a and b read from the same store, s3://data: '",
    "/data/a, /nfs/one/a, ''",
    "s3://data/a, s3://more/a, ''"
  })
  void store_thatSeveralMountsWaitFor_isTold(String one, String two, String note)
      throws IOException {
    host.mounts.add(new MountTable.Mount(1, Path.of("/data"), "8:1", "ext4", "/dev/sdx", "rw"));
    host.mounts.add(
        new MountTable.Mount(1, Path.of("/nfs/one"), "0:50", "nfs4", "filer:/one", "rw"));
    host.mounts.add(
        new MountTable.Mount(1, Path.of("/nfs/two"), "0:51", "nfs4", "filer:/two", "rw"));
    host.mounts.add(
        new MountTable.Mount(1, Path.of("/data/a"), "0:60", "fuse.holdfast", "holdfast", "ro"));
    new FakeDaemon("a", GB / 2, 200 * MB).origin = one;
    new FakeDaemon("b", GB / 2, 60 * MB).origin = two;

    assertThat(run.run("allocate")).isZero();
    String advice = "if it limits them, give them one 'origin:' in node.yaml\n";
    if (note.isEmpty()) {
      assertThat(run.out.toString()).doesNotContain("the same store");
    } else {
      assertThat(run.out.toString()).contains("\n" + note + advice);
    }

    file("mounts:\n  a: {origin: nas}\n  b: {origin: nas}\n");
    run.out.getBuffer().setLength(0);
    assertThat(run.run("allocate")).isZero();
    assertThat(run.out.toString()).doesNotContain("the same store");
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = "=>",
      ignoreLeadingAndTrailingWhitespace = true,
      value = {
        "memory 5 => not a mapping: write 'memory: 400G', and 'mounts:' with their names below it",
        "memory: => memory must be a size, such as 64G (was null)",
        "memory: many => memory 'many' is not a size: write a number with K, M, G or T",
        "memory: 0 => memory must be greater than 0 (was 0)",
        "memory: 101% => memory '101%' is more than the whole",
        "memory: [] => memory must be a size, such as 64G (was an array)",
        "memroy: 5G => memroy is unknown: did you mean 'memory'?",
        "mounts: 5 => mounts must be an object with names of mounts (was 5)",
        "mounts: {a: 5} => mounts.a must be an object with the keys of a mount (was 5)",
        "mounts: {a: {capacity: 5}} => mounts.a.capacity is unknown: did you mean 'capacity-m",
        "mounts: {a: {weight: 0}} => mounts.a.weight must be a number from 1 to 1,000,000 (was 0)",
        "mounts: {a: {weight: -1}} => mounts.a.weight must be a number from 1 to 1,000,000 (was -1)",
        "mounts: {a: {weight: 1.5}} => mounts.a.weight must be a whole number (was 1.5)",
        "mounts: {a: {weight: 1e308}} => mounts.a.weight must be a number from 1 to 1,000,000 (was",
        "mounts: {a: {weight: .inf}} => mounts.a.weight must be a number from 1 to 1,000,000 (was",
        "mounts: {a: {weight: 99999999999999999999}} => mounts.a.weight must be a number from 1 to",
        "mounts: {a: {capacity-min: -1}} => mounts.a.capacity-min '-1' is not a size",
        "mounts: {a: {capacity-max: 1e308}} => mounts.a.capacity-max '1.0E308' is not a size",
        "mounts: {a: {capacity-max: 9E}} => mounts.a.capacity-max '9E' is more than any machine",
        "mounts: {1: {weight: 1}, '1': {weight: 2}} => mounts.1 is there twice",
        "mounts: {a: {origin: ''}} => mounts.a.origin must be a text of 1 to 255 characters",
        "mounts: {a: {capacity-min: 5G, capacity-max: 4G}} => mounts.a.capacity-max must not be",
        "mounts: {a: 1, a: 2} => not YAML: found duplicate key a",
        "a: &x {b: 1} => a is unknown: choose one of memory, mounts",
        "'{' => not YAML",
        "memory: *x => not YAML"
      })
  void nodeFile_thatIsWrong_isToldInOneLine(String text, String message) throws IOException {
    new FakeDaemon("fast", GB / 2, 200 * MB);
    file(text + "\n");

    assertThat(run.run("allocate")).as("%s", run.out).isEqualTo(2);
    assertThat(run.err.toString())
        .startsWith("holdfast: " + temp.resolve("etc/node.yaml") + ":")
        .contains(message)
        .doesNotContain("Exception")
        .hasLineCount(1);
    assertThat(run.out.toString()).isEmpty();
  }

  /** Each figure may be anything. The other mount is allocated, or it is told why not. */
  @Test
  void figures_thatMakeNoSense_spoilNoOtherMount() throws IOException {
    FakeDaemon odd = new FakeDaemon("odd", GB / 2, 60 * MB);
    FakeDaemon fast = new FakeDaemon("fast", GB / 2, 200 * MB);
    Map<String, Object> sane = odd.stats();
    int looks = 0;
    for (Object garbage :
        List.of(Long.MIN_VALUE, -1L, Long.MAX_VALUE, 1e308, "word", List.of(List.of()))) {
      for (Object each : spoiled(sane, garbage)) {
        if (each instanceof Map<?, ?> spoiled) {
          odd.garbage = spoiled;
          odd.refusal = looks % 2 == 0 ? "" : "not now";
          fast.capacity = GB / 2;
          run.out.getBuffer().setLength(0);
          run.err.getBuffer().setLength(0);

          assertThat(run.run("allocate", "--budget", "1GB", "--apply")).isBetween(0, 1);

          assertThat(run.err.toString()).as("%s", spoiled).doesNotContain("internal error");
          assertThat(fast.capacity).as("%s", spoiled).isBetween(4096L, GB);
          looks++;
        }
      }
    }
    assertThat(looks).isGreaterThan(200);
  }

  /** Returns copies of a tree of maps and lists, in each of which another part is garbage. */
  private static List<Object> spoiled(Object tree, Object garbage) {
    List<Object> all = new ArrayList<>(List.of(garbage));
    if (tree instanceof Map<?, ?> map) {
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        for (Object child : spoiled(entry.getValue(), garbage)) {
          Map<Object, Object> copy = new LinkedHashMap<>(map);
          copy.put(entry.getKey(), child);
          all.add(copy);
        }
      }
    } else if (tree instanceof List<?> list) {
      for (int i = 0; i < list.size(); i++) {
        for (Object child : spoiled(list.get(i), garbage)) {
          List<Object> copy = new ArrayList<>(list);
          copy.set(i, child);
          all.add(copy);
        }
      }
    }
    return all;
  }

  @Test
  void budget_thatIsTooSmall_isTold() throws IOException {
    new FakeDaemon("fresh", GB, 60 * MB).epochs = 0;
    new FakeDaemon("fast", GB / 2, 200 * MB);

    assertThat(run.run("allocate", "--budget", "500MB")).isEqualTo(1);
    assertThat(run.err.toString())
        .isEqualTo(
            "holdfast: the budget of 477 MiB is less than the 954 MiB that mounts keep in any case,"
                + " by capacity-min or --memory-min, or because they are left as they are: raise it,"
                + " or umount one\n");
  }

  @Test
  void node_withoutMounts_isTold() {
    assertThat(run.run("allocate")).isEqualTo(1);
    assertThat(run.err.toString())
        .isEqualTo("holdfast: no Holdfast mount is running: start one with 'holdfast mount'\n");
  }

  /** All daemons are asked at once. */
  @Test
  void twoHundredMounts_areAllocated() throws IOException {
    for (int i = 0; i < 200; i++) {
      new FakeDaemon("m%03d".formatted(i), GB / 2, (30 + i) * MB);
    }
    List<?> mounts = (List<?>) json().get("mounts");

    assertThat(mounts).hasSize(200);
    double proposed =
        mounts.stream().mapToDouble(each -> number((Map<?, ?>) each, "proposed_bytes")).sum();
    assertThat(proposed).isLessThanOrEqualTo(100e9);
  }

  @Test
  void watch_stepsAndEnds() throws IOException {
    FakeDaemon fast = new FakeDaemon("fast", GB / 2, 200 * MB);
    FakeDaemon slow = new FakeDaemon("slow", GB / 2, 60 * MB);
    new FakeDaemon("fresh", GB / 4, 60 * MB).epochs = 0;
    run.pauses = 30;

    assertThat(run.run("allocate", "--watch")).as("%s", run.err).isZero();

    assertThat(run.out.toString().lines().map(line -> line.substring(9)))
        .hasSize(4)
        .first()
        .isEqualTo("watching: the budget is 1.16 GiB");
    assertThat(run.out.toString())
        .contains(" fresh is left as it is, with 238 MiB: no job has read from it yet\n")
        .contains(" step: slow from 477 MiB to 402 MiB, fast from 477 MiB to 551 MiB: together ")
        .endsWith(" ended: capacities stay as they are\n");
    assertThat(told.get("fresh"))
        .containsEntry("proposed_bytes", (int) (GB / 4))
        .containsEntry("changed", false)
        .doesNotContainKey("fair_share_bytes");
    assertThat(told.get("fast")).containsKeys("fair_share_bytes", "proposed_bytes");
    assertThat(set).containsExactly("slow", "fast");
    assertThat(fast.capacity + slow.capacity).isLessThanOrEqualTo(GB);
  }

  /**
   * Memory that a mount cannot take, by its --memory, is not taken from the others again and again.
   */
  @Test
  void watch_aMountThatCannotGrow_leavesTheOthersTheirMemory() throws IOException {
    FakeDaemon fast = new FakeDaemon("fast", GB / 2, 200 * MB);
    FakeDaemon slow = new FakeDaemon("slow", GB / 2, 60 * MB);
    fast.refusal = "does not fit within --memory";
    run.pauses = 80;

    assertThat(run.run("allocate", "--watch")).as("%s", run.err).isZero();

    assertThat(run.out.toString())
        .contains(" fast keeps 477 MiB in place of 536 MiB: does not fit within --memory\n")
        .contains(" slow has 477 MiB in place of 417 MiB\n")
        .containsOnlyOnce(" step: ");
    assertThat(slow.capacity).isEqualTo(GB / 2);
    assertThat(set).containsExactly("slow", "slow");
  }

  /** Each took the other's steps back, or took them for somebody's who knew better. */
  @Test
  void watch_besideAnother_isRefused() throws IOException {
    new FakeDaemon("fast", GB / 2, 200 * MB);
    run.pauses = 1;
    try (WatchLock other = WatchLock.take(host.control)) {
      assertThat(other).isNotNull();
      assertThat(run.run("allocate", "--watch")).isEqualTo(1);
    }
    assertThat(run.err.toString())
        .isEqualTo(
            ("holdfast: 'holdfast allocate --watch' runs already, as process %d: end that"
                    + " first\n")
                .formatted(ProcessHandle.current().pid()));
    assertThat(run.out.toString()).isEmpty();
    assertThat(run.run("allocate", "--watch")).as("%s", run.err).isZero();
  }

  /** The same bytes are not promised to a mount that begins and to one that grows. */
  @Test
  void watch_changesNothing_whileAMountTakesItsPart() throws IOException {
    new FakeDaemon("fast", GB / 2, 200 * MB);
    new FakeDaemon("slow", GB / 2, 60 * MB);
    Reservations turn = Reservations.await(new CliContext(host));
    List<String> setBefore = new ArrayList<>(List.of("nobody knows"));
    afterPauses(
        40,
        () -> {
          setBefore.clear();
          setBefore.addAll(set);
          turn.close();
        });
    run.pauses = 60;

    assertThat(run.run("allocate", "--watch")).as("%s", run.err).isZero();

    assertThat(setBefore).isEmpty();
    assertThat(set).containsExactly("slow", "fast");
  }

  @Test
  void watch_aMountThatTookItsPartMeanwhile_isLookedAtFirst() throws IOException {
    new FakeDaemon("fast", GB / 2, 200 * MB);
    new FakeDaemon("slow", GB / 2, 60 * MB);
    Reservations turn = Reservations.await(new CliContext(host));
    afterPauses(
        40,
        () -> {
          open.add(turn.reserve("begun", new Reservations.Reserved(GB / 4, true)));
          turn.close();
        });
    run.pauses = 50;

    assertThat(run.run("allocate", "--watch")).as("%s", run.err).isZero();

    assertThat(run.out.toString())
        .contains(" step: slow from ", " nothing is changed: the mounts have changed meanwhile\n");
    assertThat(set).isEmpty();
  }

  @Test
  void watch_aMountThatEndsBetweenAStepAndItsEffect_leavesItsMemoryToTheOthers()
      throws IOException {
    FakeDaemon fast = new FakeDaemon("fast", GB / 2, 200 * MB);
    FakeDaemon slow = new FakeDaemon("slow", GB / 2, 60 * MB);
    afterPauses(30, slow::end);
    run.pauses = 100;

    assertThat(run.run("allocate", "--watch")).as("%s", run.err).isZero();

    assertThat(run.out.toString()).endsWith(" ended: capacities stay as they are\n");
    assertThat(run.err.toString()).isEmpty();
    assertThat(set).startsWith("slow", "fast", "fast");
    assertThat(fast.capacity).isGreaterThan(GB / 2 + 100 * MB);
  }

  /** The other mount has its memory, and gives it back. */
  @Test
  void watch_aMountThatComesBack_doesNotAddItsMemoryOnceMore() throws IOException {
    FakeDaemon fast = new FakeDaemon("fast", GB / 2, 200 * MB);
    FakeDaemon slow = new FakeDaemon("slow", GB / 2, 60 * MB);
    afterPauses(
        30,
        () -> {
          slow.end();
          fast.capacity = 900 * MB;
        });
    AutoCloseable end = run.whenPaused;
    AtomicInteger left = new AtomicInteger(60);
    run.whenPaused =
        () -> {
          end.close();
          if (left.decrementAndGet() == 0) {
            new FakeDaemon("slow", GB / 2, 60 * MB);
          }
        };
    run.pauses = 120;

    assertThat(run.run("allocate", "--watch")).as("%s", run.err).isZero();

    assertThat(run.out.toString())
        .doesNotContain("the mounts have more together")
        .contains(": the mounts have more than the budget\n");
    assertThat(fast.capacity).isLessThan(900 * MB);
  }

  private void afterPauses(int pauses, AutoCloseable then) {
    AtomicInteger left = new AtomicInteger(pauses);
    run.whenPaused =
        () -> {
          if (left.decrementAndGet() == 0) {
            then.close();
          }
        };
  }
}
