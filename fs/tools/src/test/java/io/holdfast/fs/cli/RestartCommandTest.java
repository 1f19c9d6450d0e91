package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.control.ControlServer;
import io.holdfast.fs.host.FakeHost;
import io.holdfast.fs.settings.Given;
import io.holdfast.fs.settings.GivenSettings;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.SettingsDocument;
import io.holdfast.fs.settings.request.ConfigLookup;
import io.holdfast.fs.settings.request.MountRequest;
import io.holdfast.fs.start.DaemonState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** restart against a daemon that refuses to make way. */
class RestartCommandTest {
  private static final String NAME = "one";

  private FakeHost host;
  private DaemonState state;
  private ControlServer daemon;

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
    daemon = ControlServer.start(host.control, NAME, source, new FakeCommands());
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

  /** The supervisor goes back by itself where the daemon has ended meanwhile. */
  @Test
  void takeBack_nothingToTakeBack_changesNothing() throws IOException {
    String before = state.next();

    state.takeBack();

    assertThat(state.next()).isEqualTo(before);
  }
}
