package io.holdfast.fs.start;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.Source;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogPathTest {
  private static final Map<String, String> HOME = Map.of("HOME", "/home/u");

  @TempDir Path temp;

  @Test
  void of_root_isBelowVarLog() {
    assertThat(LogPath.of(builder().build(), 0, HOME))
        .isEqualTo(Path.of("/var/log/holdfast/n.log"));
  }

  @Test
  void of_user_isInTheStateDirectory() {
    assertThat(LogPath.of(builder().build(), 7, HOME))
        .isEqualTo(Path.of("/home/u/.local/state/holdfast/n.log"));
    assertThat(LogPath.of(builder().build(), 7, Map.of("XDG_STATE_HOME", "/state")))
        .isEqualTo(Path.of("/state/holdfast/n.log"));
  }

  @Test
  void of_givenFile_isThatFile() {
    Settings settings = builder().set(SettingTable.LOG_FILE, Path.of("/x/y")).build();
    assertThat(LogPath.of(settings, 0, HOME)).isEqualTo(Path.of("/x/y"));
  }

  @Test
  void lastLine_file_isItsLastThatIsNotBlank() throws IOException {
    Path log = temp.resolve("log");
    assertThat(LogPath.lastLine(log, 0)).isEmpty();
    Files.writeString(log, "x".repeat(20_000) + "\none\ntwo ä\n\n");
    assertThat(LogPath.lastLine(log, 0)).contains("two ä");
    assertThat(LogPath.lastLine(log, System.currentTimeMillis() + 60_000)).isEmpty();
    Files.writeString(log, "");
    assertThat(LogPath.lastLine(log, 0)).isEmpty();
  }

  private static Settings.Builder builder() {
    Source source = new Source.Directory(Path.of("/s"));
    return Settings.builder(source, Path.of("/m"), 100_000_000_000L).set(SettingTable.NAME, "n");
  }
}
