package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.client.Targets;
import io.holdfast.fs.control.ControlServer;
import io.holdfast.fs.host.FakeHost;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.linux.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.commons.io.FileUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** stats, refresh and umount against daemons that have a socket but no mount. */
@Execution(ExecutionMode.CONCURRENT)
class ControlledCommandsTest {
  private static final String HOLDFAST = "fuse.holdfast";

  /** For what never comes. */
  private static final Duration SHORT = Duration.ofMillis(200);

  @TempDir Path temp;
  private final List<AutoCloseable> open = new ArrayList<>();
  private FakeHost host;
  private CliRun run;

  @BeforeEach
  void prepare() throws IOException {
    temp = temp.toRealPath();
    host = new FakeHost(temp.resolve("run"));
    run = new CliRun(host);
  }

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable resource : open) {
      resource.close();
    }
  }

  @Test
  void stats_noDaemon_isTold() {
    assertThat(run.run("stats")).isEqualTo(1);
    assertOneLine("no Holdfast mount is running: start one with 'holdfast mount'");
    assertThat(run.run("stats", "x")).isEqualTo(1);
  }

  @Test
  void stats_onlyDaemon_isTaken() throws IOException {
    daemon("one", "/mnt/one");
    assertThat(run.run("stats")).isZero();
    assertThat(run.out.toString()).startsWith("one\n").contains("\ncache\n");
  }

  @Test
  void peers_onlyDaemon_isShown() throws IOException {
    daemon("one", "/mnt/one");
    assertThat(run.run("peers")).isZero();
    assertThat(run.out.toString()).startsWith("node  ").contains("\none:7070  self");
  }

  @Test
  void peers_json_isAnArray() throws IOException {
    daemon("one", "/mnt/one");
    assertThat(run.run("peers", "one", "--json")).isZero();
    assertThat(JSON.std.listFrom(run.out.toString()))
        .containsExactly(Map.of("node", "one:7070", "state", "self", "share", 1.0));
  }

  @Test
  void config_ofARunningMount_isShown() throws IOException {
    daemon("one", "/mnt/one");
    assertThat(run.run("config")).isZero();
    assertThat(run.out.toString()).isEqualTo("setting  value  from\nkeep     a      default\n");
    run.out.getBuffer().setLength(0);
    assertThat(run.run("config", "one", "--json")).isZero();
    assertThat(JSON.std.listFrom(run.out.toString()))
        .containsExactly(
            Map.of("setting", "keep", "value", List.of("a"), "text", "a", "source", "default"));
    assertThat(run.run("config", "two")).isEqualTo(1);
    assertOneLine("'two' is no running Holdfast mount: running are one (/mnt/one)");
  }

  @Test
  void stats_severalDaemons_asksForOne() throws IOException {
    daemon("one", "/mnt/one");
    daemon("two", "/mnt/two");
    assertThat(run.run("stats")).isEqualTo(2);
    assertOneLine("several mounts are running: name one of one (/mnt/one), two (/mnt/two)");
  }

  @Test
  void stats_nameOrMountpoint_findTheDaemon() throws IOException {
    daemon("one", "/mnt/one");
    daemon("two", "/mnt/two");
    assertThat(run.run("stats", "two")).isZero();
    assertThat(run.out.toString()).startsWith("two\n");
    assertThat(run.run("stats", "/mnt/one")).isZero();
    assertThat(run.out.toString()).contains("one\n");
  }

  @Test
  void stats_unknownName_namesTheKnown() throws IOException {
    daemon("one", "/mnt/one");
    assertThat(run.run("stats", "tow")).isEqualTo(1);
    assertOneLine("'tow' is no running Holdfast mount: running are one (/mnt/one)");
  }

  @Test
  void stats_json_isOneObject() throws IOException {
    daemon("one", "/mnt/one");
    assertThat(run.run("stats", "--json")).isZero();
    assertThat(run.out.toString()).startsWith("{").contains("\"name\" : \"one\"").endsWith("}\n");
  }

  @Test
  void stats_watch_printsARowASecondUnderAHeading() throws IOException {
    daemon("one", "/mnt/one");
    run.pauses = 22;
    assertThat(run.run("stats", "--watch")).isZero();
    assertThat(run.out.toString().lines()).hasSize(23 + 2);
    assertThat(run.out.toString().lines().filter(line -> line.contains("opens/s"))).hasSize(2);
  }

  @Test
  void stats_watchJson_printsAnObjectALine() throws IOException {
    daemon("one", "/mnt/one");
    run.pauses = 2;
    assertThat(run.run("stats", "--watch", "--json")).isZero();
    assertThat(run.out.toString().lines())
        .hasSize(3)
        .allSatisfy(line -> assertThat(line).startsWith("{").endsWith("}"));
  }

  @Test
  void stats_watchCount_endsAfterThatManyRows() throws IOException {
    daemon("one", "/mnt/one");
    assertThat(run.run("stats", "--watch", "--count", "3", "--interval", "0.1")).isZero();
    assertThat(run.out.toString().lines()).hasSize(3 + 1);
    assertThat(run.run("stats", "--watch", "--count", "1", "--json")).isZero();
    assertThat(run.out.toString()).contains("\"rates\":{\"seconds\":1.0,\"since_mount\":true");
  }

  @Test
  void stats_watchOptions_areChecked() throws IOException {
    daemon("one", "/mnt/one");
    assertThat(run.run("stats", "--count", "3")).isEqualTo(2);
    assertOneLine("--interval and --count are for --watch: give it too");
    run.err.getBuffer().setLength(0);
    assertThat(run.run("stats", "--watch", "--interval", "1ms")).isEqualTo(2);
    assertOneLine("--interval '1ms' is too short: give at least 100ms");
    run.err.getBuffer().setLength(0);
    assertThat(run.run("stats", "--watch", "--count", "0")).isEqualTo(2);
    assertOneLine("--count '0' is too small: give at least 1");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          top --batch -n 0         | --count '0' is too small: give at least 1
          top --batch -n many      | --count 'many' is not a number: give one
          top --interval 0.01      | --interval '0.01' is too short: give at least 100ms
          bench one --time 100ms   | --time '100ms' is too short: give at least 500ms
          drop one --glob /a       | --glob '/a': write a name, or a path from the dataset's root
          """)
  void values_thatAreWrong_areToldWithTheirOption(String words, String why) throws IOException {
    daemon("one", "/mnt/one");
    assertThat(run.run(words.split(" +"))).isEqualTo(2);
    assertOneLine(why);
  }

  @Test
  void stats_watchDaemonThatEnds_isToldAndAskedAgain() throws IOException {
    daemon("one", "/mnt/one");
    run.whenPaused = open.get(0);
    assertThat(run.run("stats", "--watch", "--count", "3")).isZero();
    assertThat(run.out.toString().lines()).hasSize(2);
    assertThat(run.err.toString().lines())
        .hasSize(2)
        .allSatisfy(line -> assertThat(line).endsWith(" has just ended: trying again"));
  }

  @Test
  void top_batch_printsScreens() throws IOException {
    daemon("one", "/mnt/one");
    assertThat(run.run("top", "--batch", "-n", "2")).as(run.err.toString()).isZero();
    assertThat(run.out.toString()).startsWith("one at ").contains("\n\none at ", "\nNODE ");
  }

  @Test
  void top_json_isAnObjectALine() throws IOException {
    daemon("one", "/mnt/one");
    assertThat(run.run("top", "--json", "-n", "2")).isZero();
    assertThat(run.out.toString().lines())
        .hasSize(2)
        .allSatisfy(line -> assertThat(line).startsWith("{\"name\":\"one\"").endsWith("}"));
  }

  @Test
  void top_noTerminal_namesBatch() throws IOException {
    daemon("one", "/mnt/one");
    assertThat(run.run("top")).isEqualTo(2);
    assertOneLine("this is no terminal: give --batch for text, or --json");
    run.err.getBuffer().setLength(0);
    assertThat(run.run("top", "-n", "2")).isEqualTo(2);
    assertOneLine("-n is for --batch and --json: give one of them too");
  }

  @Test
  void stats_daemonThatDoesNotAnswer_isToldWithItsPid() throws IOException {
    silent("stuck");
    assertThat(run.run("stats", "stuck")).isEqualTo(1);
    assertOneLine("the daemon of 'stuck' (pid 4711) does not answer: look into its log, or end it");
  }

  @ParameterizedTest
  @CsvSource(
      value = {
        "'',''",
        "train/a,train/a",
        "./train//a/,train/a",
        "/mnt/one,''",
        "/mnt/one/train,train",
        "/mnt/one/../one/b,b"
      })
  void refresh_path_isTakenBelowTheMountpoint(String path, String below) {
    assertThat(Targets.below(path, Path.of("/mnt/one"))).isEqualTo(below);
  }

  @Test
  void refresh_everything_tellsHowMuch() throws IOException {
    daemon("one", "/mnt/one");
    assertThat(run.run("refresh", "one")).isZero();
    assertThat(run.run("refresh", "/mnt/one", "/mnt/one/a")).isZero();
    assertThat(run.out.toString()).isEqualTo("nothing has changed\n1 entry has changed\n");
  }

  @Test
  void refresh_otherPath_isUsage() throws IOException {
    daemon("one", "/mnt/one");
    assertThat(run.run("refresh", "one", "/mnt/two/a")).isEqualTo(2);
    assertOneLine("PATH '/mnt/two/a' is not below /mnt/one: give one that is");
    run.err.getBuffer().setLength(0);
    assertThat(run.run("refresh", "one", "../a")).isEqualTo(2);
    assertOneLine("PATH '../a' leads out of the mount: give one below it");
  }

  @Test
  void refresh_refused_tellsWhy() throws IOException {
    daemon("one", "/mnt/one");
    assertThat(run.run("refresh", "one", "missing")).isEqualTo(1);
    assertOneLine(
        "the daemon of 'one' (pid " + ProcessHandle.current().pid() + ") refused: no such");
  }

  @Test
  void umount_runningDaemon_waitsForItsEnd() throws IOException {
    host.mount(Path.of("/mnt/one"), HOLDFAST, Host.PathState.DIRECTORY);
    daemon("one", "/mnt/one");
    assertThat(run.run("umount", "one")).as(run.err.toString()).isZero();
    assertThat(host.mounts).isEmpty();
    assertThat(host.control.path()).isEmptyDirectory();
    assertThat(run.err.toString()).isEmpty();
  }

  /** The option was ignored without a word. */
  @Test
  void umount_timeoutThatMeansNothing_isUsage() throws IOException {
    host.mount(Path.of("/mnt/one"), HOLDFAST, Host.PathState.DIRECTORY);
    daemon("one", "/mnt/one");
    host.mount(temp, HOLDFAST, Host.PathState.NOT_CONNECTED);
    String message = "--timeout is for checkpoint mounts, and '%s' is a mount of a dataset: ";

    assertThat(run.run("umount", "--timeout", "5s", "one")).isEqualTo(2);
    assertOneLine(message.formatted("/mnt/one"));
    run.err.getBuffer().setLength(0);
    assertThat(run.run("umount", "--timeout", "5s", temp.toString())).isEqualTo(2);
    assertOneLine(message.formatted(temp));
    for (String other : List.of("--force", "--if-dead")) {
      run.err.getBuffer().setLength(0);
      assertThat(run.run("umount", "--timeout", "5s", other, "one")).isEqualTo(2);
      assertOneLine("--timeout means nothing with " + other + ", which waits for no store: ");
    }
    assertThat(host.mounts).hasSize(2);
  }

  @Test
  void umount_daemonThatDoesNotAnswer_namesForce() throws IOException {
    silent("stuck");
    assertThat(run.run("umount", "stuck")).isEqualTo(1);
    assertOneLine("the daemon of 'stuck' (pid 4711) does not answer: look into its log, or end it");
    assertThat(run.killed).isEmpty();
  }

  @Test
  void umount_force_killsTheDaemonAndTakesItsMountAway() throws Exception {
    host.mount(Path.of("/mnt/stuck"), HOLDFAST, Host.PathState.HUNG);
    SilentDaemon daemon = silent("stuck");
    run.whenKilled = daemon;
    assertThat(run.run("umount", "--force", "stuck")).as(run.err.toString()).isZero();
    assertThat(run.killed).containsExactly(4711L);
    assertThat(host.detached).containsExactly(Path.of("/mnt/stuck"));
    assertThat(host.control.path()).isEmptyDirectory();
    assertOneLine("killed the daemon of 'stuck' (pid 4711)");
  }

  /**
   * A service manager that misses the signs of life kills the supervisor first. Nobody else removes
   * the state directory of a daemon that is killed, but umount waited for that, and failed.
   */
  @Test
  void umount_forceSupervisorIsDead_takesTheMountAway() throws Exception {
    host.mount(Path.of("/mnt/stuck"), HOLDFAST, Host.PathState.HUNG);
    run.whenKilled = silent("stuck");
    Path state = Files.createDirectory(host.control.stateDirectory("stuck"));
    Files.writeString(state.resolve("supervisor"), "no process\n");
    // less than the deadline has, so that a failure is soon one
    run.pauses = 10;

    assertThat(run.run("umount", "--force", "stuck")).as(run.err.toString()).isZero();

    assertThat(host.detached).containsExactly(Path.of("/mnt/stuck"));
    assertThat(host.control.path()).isEmptyDirectory();
  }

  @Test
  void umount_staleMount_isTakenAway() throws IOException {
    Path mountpoint = Files.createDirectory(temp.resolve("stale"));
    host.mount(mountpoint, HOLDFAST, Host.PathState.NOT_CONNECTED);
    host.mount(mountpoint, HOLDFAST, Host.PathState.NOT_CONNECTED);
    Files.createDirectories(host.control.path());
    Files.writeString(host.control.processFile("x"), "1\n" + mountpoint + "\n");
    assertThat(run.run("umount", mountpoint.toString())).isZero();
    assertThat(host.mounts).isEmpty();
    assertThat(host.control.path()).isEmptyDirectory();
    assertOneLine("took away a stale mount at " + mountpoint);
  }

  @Test
  void umount_nameOfDeadDaemon_takesItsMountAway() throws IOException {
    Path mountpoint = Files.createDirectory(temp.resolve("stale"));
    host.mount(mountpoint, HOLDFAST, Host.PathState.NOT_CONNECTED);
    Files.createDirectories(host.control.path());
    Files.writeString(host.control.processFile("photos"), "1\n" + mountpoint + "\n");
    assertThat(run.run("umount", "photos")).isZero();
    assertThat(host.mounts).isEmpty();
    assertThat(host.control.path()).isEmptyDirectory();
  }

  /**
   * By its name, or by a path that leads to its mountpoint: the command looked for a mount at the
   * word itself, found none, and returned 0 without having done anything.
   */
  @ParameterizedTest
  @ValueSource(strings = {"one", "%s/link"})
  void umount_nextDaemonIsLate_failsAndTheMountStays(String word) throws IOException {
    Path state = startsForEver();
    String target = word.formatted(temp);

    assertThat(run.run("umount", target)).isEqualTo(1);

    assertOneLine("the daemon of 'one' died, and the next one does not answer yet: ");
    assertThat(host.mounts).hasSize(1);
    assertThat(state.resolve("ended")).doesNotExist();
    assertThat(run.killed).isEmpty();
  }

  @Test
  void umount_forceNextDaemonIsLate_endsItsStart() throws IOException {
    Path state = startsForEver();
    // the supervisor takes the mount away once its daemon has ended
    run.whenKilled =
        () -> {
          assertThat(state.resolve("ended")).exists();
          host.mounts.clear();
          FileUtils.deleteDirectory(state.toFile());
        };

    assertThat(run.run("umount", "--force", "one")).as(run.err.toString()).isZero();

    assertThat(run.killed).isNotEmpty();
    assertThat(host.mounts).isEmpty();
    assertOneLine("ended the start of a daemon of 'one'");
  }

  /** The command ended with 0, though nothing tells whether the store has everything. */
  @Test
  void umount_checkpointMountWhoseDaemonDied_fails() throws IOException {
    Path mountpoint = Files.createDirectory(temp.resolve("ckpt"));
    String message =
        "took away the checkpoint mount at %s, whose daemon had died: its front may have changes"
            .formatted(mountpoint);
    for (String words : List.of("umount %s", "umount --force %s", "umount --if-dead %s")) {
      host.mounts.add(checkpoints(mountpoint));
      host.states.put(mountpoint, Host.PathState.NOT_CONNECTED);
      run.err.getBuffer().setLength(0);

      int exit = run.run(words.formatted(mountpoint).split(" ", -1));

      assertThat(exit).as(words).isEqualTo(words.startsWith("umount --") ? 0 : 1);
      assertOneLine(message);
      assertThat(host.mounts).isEmpty();
    }
  }

  /** The supervisor takes the mount away when it gives up; the command ended with 0. */
  @Test
  void umount_checkpointMountThatIsGivenUp_fails() throws IOException {
    Path state = startsForEver();
    Path mountpoint = temp.resolve("one");
    host.mounts.set(0, checkpoints(mountpoint));
    // before the command looks for the next daemon
    host.whenMountsAreRead =
        () -> {
          host.mounts.clear();
          FileUtils.deleteQuietly(state.toFile());
        };

    assertThat(run.run("umount", mountpoint.toString())).isEqualTo(1);

    assertOneLine("took away the checkpoint mount at " + mountpoint);
  }

  private static MountTable.Mount checkpoints(Path at) {
    return new MountTable.Mount(1, at, "0:77", HOLDFAST, MountTable.CHECKPOINT_SOURCE + "/s", "rw");
  }

  /** Makes a mount whose daemon died and whose next one does not get ready. */
  private Path startsForEver() throws IOException {
    run.start = SHORT;
    Path mountpoint = Files.createDirectory(temp.resolve("one"));
    Files.createSymbolicLink(temp.resolve("link"), mountpoint);
    host.mount(mountpoint, HOLDFAST, Host.PathState.HUNG);
    Files.createDirectories(host.control.path());
    Files.writeString(host.control.processFile("one"), "1\n" + mountpoint + "\n");
    return supervised("one");
  }

  /**
   * The unit ended with 'umount --force', also where its start had failed because the name had a
   * mount by hand: {@code systemctl start} ended that mount.
   */
  @Test
  void umount_asTheUnitEnds_leavesAMountWithADaemon() throws IOException {
    host.mount(Path.of("/mnt/one"), HOLDFAST, Host.PathState.DIRECTORY);
    daemon("one", "/mnt/one");

    assertThat(run.run(afterTheUnit("one"))).as(run.err.toString()).isZero();

    assertThat(host.mounts).hasSize(1);
    assertThat(run.run("stats", "one")).isZero();
    assertThat(run.killed).isEmpty();
    assertThat(run.err.toString()).isEmpty();
  }

  @Test
  void umount_asTheUnitEnds_leavesAMountThatGetsItsNextDaemon() throws IOException {
    host.mount(Path.of("/mnt/one"), HOLDFAST, Host.PathState.HUNG);
    died("one");
    Path state = supervised("one");

    assertThat(run.run(afterTheUnit("one"))).as(run.err.toString()).isZero();

    assertThat(host.mounts).hasSize(1);
    assertThat(state.resolve("supervisor")).exists();
    assertThat(run.err.toString()).isEmpty();
  }

  /**
   * Another process may have the pid of the dead daemon by then: the lock tells, as it does here.
   */
  @Test
  void umount_asTheUnitEnds_takesADeadMountAway() throws IOException {
    Path mountpoint = Files.createDirectory(temp.resolve("dead"));
    host.mount(mountpoint, HOLDFAST, Host.PathState.HUNG);
    Files.createDirectories(host.control.stateDirectory("one"));
    Files.createFile(host.control.lockFile("one"));
    Files.writeString(
        host.control.processFile("one"), ProcessHandle.current().pid() + "\n" + mountpoint + "\n");

    assertThat(run.run(afterTheUnit("one"))).as(run.err.toString()).isZero();

    assertThat(host.mounts).isEmpty();
    assertThat(host.control.path()).isEmptyDirectory();
    assertOneLine("took away a stale mount at " + mountpoint);
  }

  @Test
  void umount_ifDead_removesFilesOfAMountThatIsGone_andNothingElse() throws IOException {
    died("one");
    died("two");
    assertThat(run.run("umount", "--if-dead", "one")).isZero();
    assertThat(host.control.processFile("one")).doesNotExist();
    assertThat(host.control.processFile("two")).exists();
    assertThat(run.run("umount", "--if-dead", "three")).isZero();
    assertThat(run.err.toString()).isEmpty();
    assertThat(run.run("umount", "--if-dead", "--force", "two")).isEqualTo(2);
    assertOneLine("--force and --if-dead exclude each other: give one of them");
  }

  /** Returns the words of the unit's own command line for after its end. */
  private static String[] afterTheUnit(String name) throws IOException {
    String unit = Files.readString(Path.of("../../packaging/deb/holdfast@.service"));
    Matcher command =
        Pattern.compile("(?m)^ExecStopPost=.* exec /usr/bin/holdfast (.*)'$").matcher(unit);
    assertThat(command.find()).isTrue();
    return command.group(1).replace("%i", name).split(" ");
  }

  /** Leaves what a daemon that was killed leaves. */
  private void died(String name) throws IOException {
    Files.createDirectories(host.control.path());
    Files.writeString(host.control.processFile(name), "1\n/mnt/" + name + "\n");
  }

  /** Gives a mount a supervisor, which has a child; returns the mount's state directory. */
  private Path supervised(String name) throws IOException {
    Process supervisor =
        new ProcessBuilder(
                "sh",
                "-c",
                "sleep 600 & read line; kill $!; : holdfast-supervise",
                "sh",
                host.control.stateDirectory(name).toString())
            .start();
    open.add(() -> supervisor.getOutputStream().close());
    Path state = Files.createDirectories(host.control.stateDirectory(name));
    Files.writeString(state.resolve("supervisor"), supervisor.pid() + "\n");
    return state;
  }

  @Test
  void umount_staleMountThatStays_isTold() throws IOException {
    Path mountpoint = Files.createDirectory(temp.resolve("stale"));
    host.mount(mountpoint, HOLDFAST, Host.PathState.NOT_CONNECTED);
    host.detachFails = true;
    assertThat(run.run("umount", mountpoint.toString())).isEqualTo(1);
    assertOneLine("the mount at '" + mountpoint + "' cannot be taken away");
  }

  /**
   * The daemon, on its way out, took its mount away between our look at the mount table and our
   * call: the command said that it could not, of a mount that was gone.
   */
  @Test
  void umount_mountThatGoesMeanwhile_isGone() throws IOException {
    Path mountpoint = Files.createDirectory(temp.resolve("going"));
    host.mount(mountpoint, HOLDFAST, Host.PathState.NOT_CONNECTED);
    host.goesBeforeDetach = true;
    assertThat(run.run("umount", mountpoint.toString())).as(run.err.toString()).isZero();
    assertThat(host.mounts).isEmpty();
  }

  @Test
  void umount_mountOfAnotherUser_isTold() throws IOException {
    Path mountpoint = Files.createDirectory(temp.resolve("other"));
    host.mount(mountpoint, HOLDFAST, Host.PathState.DIRECTORY);
    assertThat(run.run("umount", mountpoint.toString())).isEqualTo(1);
    assertOneLine("the daemon of '" + mountpoint + "' is not to be found; user 7 mounted it: run");
    assertThat(host.detached).isEmpty();
  }

  @Test
  void umount_noHoldfastMount_isTold() throws IOException {
    Path plain = Files.createDirectory(temp.resolve("plain"));
    assertThat(run.run("umount", plain.toString())).isEqualTo(1);
    assertOneLine(
        "'" + plain + "' is not a Holdfast mount: 'holdfast stats' shows what is running");
    run.err.getBuffer().setLength(0);
    host.mount(plain, "nfs4", Host.PathState.DIRECTORY);
    assertThat(run.run("umount", plain.toString())).isEqualTo(1);
    assertOneLine("'" + plain + "' is not a Holdfast mount but one of type nfs4: ");
  }

  private void assertOneLine(String message) {
    assertThat(run.err.toString()).startsWith("holdfast: " + message).hasLineCount(1);
  }

  private void daemon(String name, String mountpoint) throws IOException {
    Commands commands = new Commands(name, Path.of(mountpoint));
    ControlServer server = ControlServer.start(host.control, name, Path.of(mountpoint), commands);
    commands.server = server;
    open.add(server);
  }

  private final class Commands extends FakeCommands {
    private final String name;
    private final Path mountpoint;
    private volatile AutoCloseable server = () -> {};

    Commands(String name, Path mountpoint) {
      this.name = name;
      this.mountpoint = mountpoint;
    }

    @Override
    public Map<String, Object> stats() {
      return Map.of("name", name, "cluster", Map.of());
    }

    @Override
    public List<Map<String, Object>> peers() {
      return List.of(Map.of("node", name + ":7070", "state", "self", "share", 1.0));
    }

    @Override
    public long refresh(String path) throws IOException {
      if (path.equals("missing")) {
        throw new FsException(FsError.NOT_FOUND, "no such entry");
      }
      return path.length();
    }

    @Override
    public Map<String, Object> task(Map<String, Object> request) {
      return Map.of("asked", request);
    }

    @Override
    public void stop() {
      host.mounts.removeIf(mount -> mount.mountpoint().equals(mountpoint));
      try {
        server.close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public Runnable restart() throws FsException {
      throw new FsException(FsError.UNSUPPORTED, "it has no supervisor");
    }

    @Override
    public List<Map<String, Object>> config() {
      return List.of(
          Map.of("setting", "keep", "value", List.of("a"), "text", "a", "source", "default"));
    }
  }

  private SilentDaemon silent(String name) throws IOException {
    run.answer = SHORT;
    SilentDaemon daemon = new SilentDaemon(host.control, name);
    open.add(daemon);
    return daemon;
  }
}
