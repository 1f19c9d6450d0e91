package io.holdfast.fs.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PathProbeTest {
  private final PathProbe probe = new PathProbe(Duration.ofSeconds(10));
  @TempDir Path temp;

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void probe_realPaths_tellsWhatTheyAre(boolean askDaemon) throws IOException {
    Path directory = Files.createDirectory(temp.resolve("-ä\n b"));
    Path file = Files.createFile(temp.resolve("file"));
    Path link = Files.createSymbolicLink(temp.resolve("link"), directory);
    Path dangling = Files.createSymbolicLink(temp.resolve("dangling"), temp.resolve("none"));
    assertThat(probe.probe(directory, askDaemon)).isEqualTo(Host.PathState.DIRECTORY);
    assertThat(probe.probe(link, askDaemon)).isEqualTo(Host.PathState.DIRECTORY);
    assertThat(probe.probe(file, askDaemon)).isEqualTo(Host.PathState.OTHER);
    assertThat(probe.probe(dangling, askDaemon)).isEqualTo(Host.PathState.MISSING);
    assertThat(probe.probe(temp.resolve("none"), askDaemon)).isEqualTo(Host.PathState.MISSING);
    assertThat(probe.probe(file.resolve("below"), askDaemon)).isEqualTo(Host.PathState.MISSING);
  }

  @Test
  void probe_noTime_isHung() {
    assertThat(new PathProbe(Duration.ZERO).probe(temp, false)).isEqualTo(Host.PathState.HUNG);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "stat: cannot statx '/a': No such file or directory|MISSING",
        "stat: cannot statx '/a: b': Permission denied|DENIED",
        "stat: cannot read file system information for '/a': Transport endpoint is not"
            + " connected|NOT_CONNECTED",
        "stat: cannot statx '/a': Software caused connection abort|NOT_CONNECTED",
        "stat: cannot statx '/a': Input/output error|FAILED",
        "''|FAILED"
      })
  void failed_message_tellsTheState(String message, Host.PathState state) {
    assertThat(PathProbe.failed(message)).isEqualTo(state);
  }
}
