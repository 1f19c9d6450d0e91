package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.host.CliException;
import java.util.List;
import org.junit.jupiter.api.Test;

class OwnCommandTest {
  private static final String MAIN = "io.holdfast.fs.cli.Holdfast";

  @Test
  void words_commandLine_endWithTheMainClass() {
    List<String> all = List.of("java", "-Xmx1g", "-cp", "/a b:/c", MAIN, "mount", MAIN);
    assertThat(OwnCommand.words("/usr/bin/java", all))
        .containsExactly("/usr/bin/java", "-Xmx1g", "-cp", "/a b:/c", MAIN);
  }

  @Test
  void words_ofACommandThatCompilesLate_areThoseOfADaemonThatDoesNot() {
    List<String> all =
        List.of("java", "-XX:TieredStopAtLevel=1", "-XX:CompileThresholdScaling=5", MAIN);
    assertThat(OwnCommand.words("/usr/bin/java", all))
        .containsExactly("/usr/bin/java", "-XX:TieredStopAtLevel=1", MAIN);
  }

  @Test
  void words_otherProgram_areRefused() {
    assertThatThrownBy(() -> OwnCommand.words("/usr/bin/java", List.of("java", "org.Other")))
        .isInstanceOf(CliException.class)
        .hasMessageContaining("--foreground");
  }

  @Test
  void isOurs_otherProcesses_isFalse() {
    assertThat(OwnCommand.isOurs(1)).isFalse();
    assertThat(OwnCommand.isOurs(Integer.MAX_VALUE)).isFalse();
  }
}
