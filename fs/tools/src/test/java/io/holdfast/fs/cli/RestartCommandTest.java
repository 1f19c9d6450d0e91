package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlServer;
import io.holdfast.fs.host.FakeHost;
import io.holdfast.fs.settings.Given;
import io.holdfast.fs.settings.GivenSettings;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.SettingsDocument;
import io.holdfast.fs.settings.request.ConfigLookup;
import io.holdfast.fs.settings.request.MountRequest;
import io.holdfast.fs.start.DaemonState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** restart against a daemon that refuses to make way, or has no next one. */
class RestartCommandTest {
  private static final String NAME = "one";

  private FakeHost host;
  private DaemonState state;
  private ControlServer daemon;
  private boolean makesWay;

  @BeforeEach
  void start(@TempDir Path place) throws IOException {
    Path temp = place.toRealPath();
    host = new FakeHost(temp.resolve("run"));
    Path source = Files.createDirectory(temp.resolve("source"));
    GivenSettings given =
        GivenSettings.of(
            List.of(
                Given.argument(SettingTable.SOURCE, source.toString()),
                Given.argument(SettingTable.NAME, NAME)));
    MountRequest request = new MountRequest(host, new ConfigLookup(host).complete(given));
    SettingsDocument document =
        new SettingsDocument(
            request.settings(), request.given(), temp.resolve("log"), List.of("a note"));
    state = DaemonState.create(host.control, document);
    state.writeCommand(List.of("the", "daemon", "before"), document);
    FakeCommands commands =
        new FakeCommands() {
          @Override
          public Runnable restart() throws FsException {
            return makesWay ? () -> {} : super.restart();
          }
        };
    daemon = ControlServer.start(host.control, NAME, source, commands);
  }

  @AfterEach
  void close() {
    daemon.close();
  }

  /**
   * The new command and settings stayed, and a daemon that was started days later, after a crash,
   * was the one that the user had been told about as a failure.
   */
  @Test
  void restart_thatFails_changesNothing() throws IOException {
    Map<String, Object> changes = Map.of("capacity", 1 << 30, "pinned_paths", List.of("a"));
    Path changed = state.directory().resolve("changes.json");
    Files.write(changed, JSON.std.asBytes(changes));
    String before = state.next();
    CliRun run = new CliRun(host);

    assertThat(run.run("restart", "--capacity", "2G", NAME)).isEqualTo(1);

    assertThat(run.err.toString()).contains(" refused: ").hasLineCount(1);
    assertThat(state.next()).isEqualTo(before);
    assertThat(JSON.std.mapFrom(Files.readAllBytes(changed))).isEqualTo(changes);
    assertThat(state.directory().resolve("previous")).doesNotExist();
    assertThat(state.directory().resolve("previous.json")).doesNotExist();
  }

  /** An upgrade took heap, options of Java and percentages from the shell and the cgroup of apt. */
  @Test
  void restart_daemonHasOtherMemoryThanTheCaller_itsHeapOptionsAndPercentagesStay()
      throws IOException {
    makesWay = true;
    state.writeCommand(program("/old", "-Xmx513m", "-Dx=y"), state.document());
    host.memoryOf.put(ProcessHandle.current().pid(), 90_000_000_000L);
    CliRun run = new CliRun(host);
    run.ownCommand = program("/new", "-Xmx512m", "-Da=b");
    run.pauses = 0;

    assertThat(run.run("restart", "--capacity", "20%", NAME)).isEqualTo(1);

    // twice what a daemon has for its start: the one before may have to come back
    assertThat(run.err.toString())
        .contains("no new daemon of 'one' answers after 120 s")
        .hasLineCount(1);
    List<String> words = new ArrayList<>(program("/new", "-Xmx513m", "-Dx=y"));
    words.addAll(List.of("serve", state.directory().toString()));
    assertThat(state.command()).isEqualTo(words);
    Settings settings = state.document().settings();
    assertThat(settings.get(SettingTable.CAPACITY)).isEqualTo(18_000_000_000L);
    assertThat(settings.get(SettingTable.MEMORY)).isEqualTo(72_000_000_000L);
  }

  @Test
  void restart_whoseSupervisorHasEnded_doesNotWaitForADaemon() {
    makesWay = true;
    CliRun run = new CliRun(host);
    run.ownCommand = program("/new", "-Xmx512m", "-Da=b");

    assertThat(run.run("restart", NAME)).isEqualTo(1);

    assertThat(run.err.toString()).contains("has given the mount up: ").hasLineCount(1);
  }

  /** The command looked for the state of root's mount in the user's own directory. */
  @Test
  void restart_ofRootsMount_namesTheUserThatItAnswers(@TempDir Path place) {
    FakeHost other = new FakeHost(place.resolve("run"));
    other.uid = 1000;
    other.controlOfOthers.add(host.control);
    CliRun run = new CliRun(other);

    assertThat(run.run("restart", NAME)).isEqualTo(1);

    assertThat(run.err.toString())
        .contains(") answers only the user that started it: run as that user")
        .hasLineCount(1);
  }

  private static List<String> program(String home, String heap, String option) {
    return List.of(
        "/java",
        heap,
        "-Dholdfast.home=" + home,
        option,
        "-cp",
        home + "/a.jar",
        Holdfast.class.getName());
  }

  /** The supervisor goes back by itself where the daemon has ended meanwhile. */
  @Test
  void takeBack_nothingToTakeBack_changesNothing() throws IOException {
    String before = state.next();

    state.takeBack();

    assertThat(state.next()).isEqualTo(before);
  }
}
