package io.holdfast.fs.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.daemon.SupervisedMount;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.settings.GivenSettings;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.SettingsDocument;
import io.holdfast.fs.settings.Source;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DaemonStateTest {
  private ControlDirectory control;
  private Path state;
  private SettingsDocument document;
  private Process other;

  @BeforeEach
  void prepare(@TempDir Path place) throws IOException {
    Path temp = place.toRealPath();
    control = ControlDirectory.at(temp.resolve("run"));
    state = control.stateDirectory("n");
    Settings settings =
        Settings.builder(new Source.Directory(temp), temp.resolve("mnt"), 1L << 34)
            .set(SettingTable.NAME, "n")
            .build();
    document =
        new SettingsDocument(settings, GivenSettings.NOTHING, temp.resolve("log"), List.of());
    other = new ProcessBuilder("sleep", "600").start();
  }

  @AfterEach
  void end() throws InterruptedException {
    other.destroyForcibly().waitFor();
  }

  private long started() {
    return Procfs.host().process((int) other.pid()).orElseThrow().started();
  }

  private void left(String starter) throws IOException {
    Files.createDirectories(state);
    Files.writeString(state.resolve("left"), "");
    Files.writeString(state.resolve("starter"), starter);
  }

  private List<String> all() throws IOException {
    try (Stream<Path> files = Files.list(control.path())) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  private void assertMade() throws FsException, IOException {
    DaemonState made = DaemonState.create(control, document);
    assertThat(made.document().settings().get(SettingTable.NAME)).isEqualTo("n");
    assertThat(state.resolve("left")).doesNotExist();
    assertThat(all()).containsExactly("n.state");
    assertThat(SupervisedMount.isForCheckpoints(state)).isFalse();
  }

  @Test
  void ofCheckpoints_isMarked() throws FsException {
    DaemonState made = DaemonState.create(control, "n");
    assertThat(SupervisedMount.isForCheckpoints(made.directory())).isTrue();
  }

  @Test
  void nothingThere_isMade() throws IOException {
    assertMade();
  }

  @Test
  void leftByAProcessThatHasEnded_isReplaced() throws IOException {
    left(other.pid() + " " + (started() - 1) + "\n");
    assertMade();
    left("no process");
    assertMade();
  }

  /** A command that failed, and is tried again by the same process. */
  @Test
  void ownOne_isReplaced() throws IOException {
    DaemonState.create(control, document);
    left(Files.readString(state.resolve("starter")));
    assertMade();
  }

  @Test
  void ofAnotherProcessThatJustStarts_isLeftAlone() throws IOException {
    left(other.pid() + " " + started() + "\n");
    assertThatThrownBy(() -> DaemonState.create(control, document))
        .isInstanceOf(CliException.class)
        .hasMessageContaining("the name 'n' has another mount, or just gets one");
    assertThat(state.resolve("left")).exists();
    assertThat(all()).containsExactly("n.state");
  }
}
