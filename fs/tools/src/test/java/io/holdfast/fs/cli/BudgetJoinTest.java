package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.allocate.node.Reservations;
import io.holdfast.fs.control.ControlServer;
import io.holdfast.fs.host.FakeHost;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code holdfast mount} beside daemons that have figures and no mount. */
class BudgetJoinTest {
  private static final long GIB = 1L << 30;

  @TempDir Path temp;
  private final List<AutoCloseable> open = new ArrayList<>();
  private final List<String> set = new CopyOnWriteArrayList<>();
  private FakeHost host;
  private CliRun run;
  private Path source;
  private Path nodeFile;

  @BeforeEach
  void prepare() throws IOException {
    temp = temp.toRealPath();
    host = new FakeHost(temp.resolve("run"));
    host.configurationDirectories.add(Files.createDirectory(temp.resolve("etc")));
    run = new CliRun(host);
    source = Files.createDirectory(temp.resolve("source"));
    nodeFile = temp.resolve("etc/node.yaml");
  }

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable resource : open) {
      resource.close();
    }
  }

  private class FakeDaemon extends FakeCommands {
    final String name;
    final boolean joined;
    String refusal = "";
    long least;
    long pinned;
    volatile long capacity;

    FakeDaemon(String name, long capacity, boolean joined) throws IOException {
      this.name = name;
      this.capacity = capacity;
      this.joined = joined;
      open.add(ControlServer.start(host.control, name, Path.of("/mnt", name), this));
    }

    @Override
    public Map<String, Object> stats() {
      return Map.of(
          "name",
          name,
          "cache",
          Map.of(
              "capacity_bytes", capacity, "kept_bytes", pinned, "capacity_of_node_budget", joined),
          "memory",
          Map.of("min_bytes", least));
    }

    @Override
    public Map<String, Object> task(Map<String, Object> request) throws FsException {
      assertThat(request).containsEntry("begin", "capacity").containsEntry("within_budget", true);
      if (!refusal.isEmpty()) {
        return Map.of("id", 1, "state", "failed", "error", refusal);
      }
      capacity = Long.parseLong(String.valueOf(request.get("size")));
      set.add(name);
      return new LinkedHashMap<>(Map.of("id", 1, "state", "done", "seconds", 1.0));
    }
  }

  private void budget(String... lines) throws IOException {
    Files.writeString(nodeFile, String.join("\n", lines) + "\n");
    Files.setPosixFilePermissions(nodeFile, PosixFilePermissions.fromString("rw-r--r--"));
  }

  private int mount(String... options) {
    return run.run(
        Stream.of(
                new String[] {"mount", "--foreground", "--binding=jnr-fuse", "--name=new"},
                options,
                new String[] {source.toString()})
            .flatMap(Arrays::stream)
            .toArray(String[]::new));
  }

  private Settings settings() {
    return Objects.requireNonNull(run.daemon.settings, run.err.toString());
  }

  private long capacity() {
    return settings().get(SettingTable.CAPACITY);
  }

  private List<Path> reservations() throws IOException {
    try (Stream<Path> files = Files.list(host.control.path())) {
      return files.filter(file -> file.toString().endsWith(".reserved")).toList();
    }
  }

  @Test
  void mount_withoutCapacity_getsItsShare_andJoinedMountsMakeRoom() throws IOException {
    budget("memory: 40G", "mounts:", "  new: {weight: 2}");
    FakeDaemon joined = new FakeDaemon("joined", 30 * GIB, true);
    FakeDaemon own = new FakeDaemon("own", 10 * GIB, false);

    assertThat(mount()).as("%s", run.err).isZero();

    assertThat(capacity()).isEqualTo(20 * GIB);
    assertThat(settings().source(SettingTable.CAPACITY))
        .isEqualTo("node budget (" + nodeFile + ")");
    assertThat(joined.capacity).isEqualTo(10 * GIB);
    assertThat(own.capacity).isEqualTo(10 * GIB);
    assertThat(run.err.toString())
        .startsWith(
            "holdfast: joined has 10.0 GiB in place of 30.0 GiB\n"
                + "holdfast: 'new' has 20.0 GiB of the node's budget of 40.0 GiB (%s)\n"
                    .formatted(nodeFile));
    assertThat(reservations()).isEmpty();
  }

  @Test
  void mount_withoutABudget_hasTheUsualDefault_andReservesNothing() throws IOException {
    budget("mounts: {new: {weight: 2}}");

    assertThat(mount()).as("%s", run.err).isZero();

    assertThat(settings().source(SettingTable.CAPACITY)).startsWith("derived from 50%");
    assertThat(host.control.path()).doesNotExist();
  }

  /** No more than its own ceiling leaves, nor than its capacity-max; no less than its floors. */
  @Test
  void part_isWithinTheBoundsOfTheMount() throws IOException {
    budget("memory: 90G");
    assertThat(mount("--memory=20G", "--transit=1G")).as("%s", run.err).isZero();
    assertThat(capacity()).isBetween(10 * GIB, settings().room());
    budget("memory: 90G", "mounts: {new: {capacity-max: 3G}}");
    assertThat(mount()).as("%s", run.err).isZero();
    assertThat(capacity()).isEqualTo(3 * GIB);
    budget("memory: 40G");
    FakeDaemon joined = new FakeDaemon("joined", 40 * GIB, true);
    joined.least = 35 * GIB;
    assertThat(mount()).as("%s", run.err).isZero();
    assertThat(capacity()).isEqualTo(5 * GIB);
    joined.least = 0;
    assertThat(mount("--memory-min=30G")).as("%s", run.err).isZero();
    assertThat(capacity()).isEqualTo(30 * GIB);
    assertThat(joined.capacity).isEqualTo(10 * GIB);
  }

  /** The new mount took memory from files that users had pinned. */
  @Test
  void joinedMount_keepsWhatUsersHavePinned() throws IOException {
    budget("memory: 40G");
    FakeDaemon joined = new FakeDaemon("joined", 40 * GIB, true);
    joined.pinned = 30 * GIB;

    assertThat(mount()).as("%s", run.err).isZero();

    assertThat(capacity()).isEqualTo(10 * GIB);
    assertThat(joined.capacity).isEqualTo(30 * GIB);
  }

  @Test
  void nothingLeft_isToldInALine() throws IOException {
    budget("memory: 40G");
    new FakeDaemon("own", 40 * GIB, false);

    assertThat(mount()).isEqualTo(1);

    assertThat(run.err.toString())
        .isEqualTo(
            ("holdfast: the node's budget of 40.0 GiB (%s) has no room for 'new', which needs 64.0"
                    + " MiB at least: others have own 40.0 GiB: raise 'memory' there, umount a mount,"
                    + " or give --capacity\n")
                .formatted(nodeFile));
    assertThat(reservations()).isEmpty();
    assertThat(run.daemon.settings).isNull();
  }

  @Test
  void mountThatRefuses_leavesNoMemoryToTheNewOne() throws IOException {
    budget("memory: 40G");
    new FakeDaemon("joined", 40 * GIB, true).refusal = "not now";

    assertThat(mount()).isEqualTo(1);

    assertThat(run.err.toString())
        .hasLineCount(1)
        .startsWith(
            "holdfast: joined keeps 40.0 GiB in place of 20.0 GiB: not now: so 'new' cannot")
        .endsWith(": mount again, or give --capacity\n");
    assertThat(reservations()).isEmpty();
  }

  @Test
  void capacityOfItsOwn_isTaken_andToldWhereItIsMoreThanTheBudget() throws IOException {
    budget("memory: 40G");
    FakeDaemon joined = new FakeDaemon("joined", 40 * GIB, true);

    assertThat(mount("--capacity=15G")).as("%s", run.err).isZero();

    assertThat(capacity()).isEqualTo(15 * GIB);
    assertThat(joined.capacity).isEqualTo(25 * GIB);
    assertThat(run.err.toString()).doesNotContain("more than");

    assertThat(mount("--capacity=45G")).as("%s", run.err).isZero();

    assertThat(joined.capacity).isEqualTo(25 * GIB);
    assertThat(run.err.toString())
        .contains(
            "holdfast: the mounts have 70.0 GiB together, more than the node's budget of 40.0");
  }

  /** Another command has taken memory for a mount of its own, which does not answer yet. */
  @Test
  void reservationOfAnother_counts_untilThatAnswersOrEnds() throws Exception {
    budget("memory: 40G");
    CliContext context = new CliContext(host);
    Reservations.Reservation other;
    try (Reservations turn = Reservations.await(context)) {
      other = turn.reserve("other", new Reservations.Reserved(30 * GIB, false));
      assertThat(turn.all()).containsEntry("other", new Reservations.Reserved(30 * GIB, false));
    }
    assertThat(mount()).as("%s", run.err).isZero();
    assertThat(capacity()).isEqualTo(10 * GIB);

    other.close();
    assertThat(mount()).as("%s", run.err).isZero();
    assertThat(capacity()).isEqualTo(40 * GIB);
  }

  /** A mount that joins can make room as soon as it answers, so the new one waits for that. */
  @Test
  void mountThatJustJoins_isWaitedFor() throws Exception {
    budget("memory: 40G");
    Reservations.Reservation other;
    try (Reservations turn = Reservations.await(new CliContext(host))) {
      other = turn.reserve("other", new Reservations.Reserved(40 * GIB, true));
    }
    List<FakeDaemon> daemons = new ArrayList<>();
    run.whenPaused =
        () -> {
          if (daemons.isEmpty()) {
            daemons.add(new FakeDaemon("other", 40 * GIB, true));
            other.close();
          }
        };

    assertThat(mount()).as("%s", run.err).isZero();

    assertThat(daemons).hasSize(1);
    assertThat(capacity()).isEqualTo(20 * GIB);
    assertThat(daemons.get(0).capacity).isEqualTo(20 * GIB);
  }

  @Test
  void commandThatTakesItsPart_isWaitedFor() throws Exception {
    budget("memory: 40G");
    Reservations turn = Reservations.await(new CliContext(host));
    List<String> waited = new ArrayList<>();
    run.whenPaused =
        () -> {
          if (waited.isEmpty()) {
            waited.add("once");
            turn.close();
          }
        };

    assertThat(mount()).as("%s", run.err).isZero();

    assertThat(waited).hasSize(1);
    assertThat(capacity()).isEqualTo(40 * GIB);
  }

  /** A user who can open a file can lock it. */
  @Test
  void filesOfReservations_canBeOpenedByTheirUserAlone() throws Exception {
    try (Reservations turn = Reservations.await(new CliContext(host));
        Stream<Path> files = Files.list(host.control.path())) {
      open.add(turn.reserve("x", new Reservations.Reserved(GIB, false)));
      assertThat(files)
          .hasSize(2)
          .allSatisfy(
              file ->
                  assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                      .isEqualTo("rw-------"));
    }
  }

  @Test
  void daemonsThatSayAnything_countAsTheWholeMachine() throws IOException {
    budget("memory: 40G");
    new FakeDaemon("a", Long.MAX_VALUE, false);
    new FakeDaemon("b", Long.MAX_VALUE, false);
    new FakeDaemon("c", Long.MIN_VALUE, true);

    assertThat(mount()).isEqualTo(1);

    assertThat(run.err.toString()).contains("others have a 93.1 GiB, b 93.1 GiB, c 0 B: raise");
  }

  /** As after kill -9: the kernel has released the lock, and the file is still there. */
  @Test
  void reservationWithoutAProcess_countsForNothing_andIsRemoved() throws IOException {
    budget("memory: 40G");
    Files.createDirectories(host.control.path());
    Path left = Files.writeString(host.control.path().resolve("gone.reserved"), "42949672960\n");

    assertThat(mount()).as("%s", run.err).isZero();

    assertThat(capacity()).isEqualTo(40 * GIB);
    assertThat(left).doesNotExist();
  }

  @Test
  void mountThatFails_leavesNoReservation() throws IOException {
    budget("memory: 40G");
    run.daemon.failure = new FsException(FsError.IO, "no such thing");

    assertThat(mount()).isEqualTo(1);

    assertThat(reservations()).isEmpty();
    assertThat(run.atExit)
        .allSatisfy(thread -> assertThat(thread.getName()).doesNotContain("reserv"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = "=>",
      value = {
        "rw-rw-r-- => memory: 40G => may be changed by others (mode 0664): 'chmod go-w ",
        "rw-r--rw- => memory: 40G => may be changed by others (mode 0646): 'chmod go-w ",
        "rw-r--r-- => memory: 4Q => : memory '4Q' is not a size",
        "rw-r--r-- => memroy: 4G => : memroy is unknown: did you mean 'memory'?",
        "rw-r--r-- => 'memory: [' => not YAML: "
      })
  void nodeFile_thatIsWrong_isToldInALine_andOnlyWhoJoinsNeedsIt(
      String mode, String text, String message) throws IOException {
    budget(text);
    Files.setPosixFilePermissions(nodeFile, PosixFilePermissions.fromString(mode));

    assertThat(mount()).isEqualTo(2);

    assertThat(run.err.toString())
        .startsWith("holdfast: " + nodeFile)
        .contains(message)
        .hasLineCount(1);
    run.err.getBuffer().setLength(0);
    assertThat(mount("--capacity=1G")).as("%s", run.err).isZero();
    assertThat(run.err.toString())
        .contains(message)
        .endsWith(": the node's budget is not looked at\n");
  }

  /** A user cannot ask root's mounts, so the memory of the machine is not the user's to share. */
  @Test
  void userOtherThanRoot_hasABudgetOnlyByAFileOfTheUsersOwn() throws IOException {
    host.uid = 7;
    host.configurationDirectories.add(0, Files.createDirectory(temp.resolve("own")));
    budget("memory: 4Q");
    assertThat(mount()).as("%s", run.err).isZero();
    assertThat(settings().source(SettingTable.CAPACITY)).startsWith("derived from 50%");
    assertThat(run.err.toString()).doesNotContain("node.yaml");

    nodeFile = temp.resolve("own/node.yaml");
    budget("memory: 20G");
    FakeDaemon joined = new FakeDaemon("joined", 20 * GIB, true);

    assertThat(mount()).as("%s", run.err).isZero();

    assertThat(capacity()).isEqualTo(10 * GIB);
    assertThat(joined.capacity).isEqualTo(10 * GIB);
  }

  @Test
  void configCheck_saysThatTheCapacityIsAPartOfTheBudget() throws IOException {
    budget("memory: 40G");
    Path file = Files.writeString(temp.resolve("etc/new.yaml"), "source: " + source + "\n");

    assertThat(run.run("config", "--check", "new")).as("%s", run.err).isZero();
    assertThat(run.out.toString())
        .containsPattern("capacity +- +its part of 'memory' in " + nodeFile + "\n");

    Files.writeString(file, "source: " + source + "\ncapacity: 1G\n");
    assertThat(run.run("config", "--check", "new")).as("%s", run.err).isZero();
    assertThat(run.out.toString()).containsPattern("capacity +1G +" + file + ":2\n");
  }
}
