package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class OwnCommandTest {
  private static final String MAIN = "io.holdfast.fs.cli.Holdfast";

  @Test
  void words_commandLine_endWithTheMainClass() {
    String line = "java\0-Xmx1g\0-cp\0/a b:/c\0" + MAIN + "\0mount\0" + MAIN + "\0";
    assertThat(OwnCommand.words("/usr/bin/java", line))
        .containsExactly("/usr/bin/java", "-Xmx1g", "-cp", "/a b:/c", MAIN);
  }

  @Test
  void words_otherProgram_areRefused() {
    assertThatThrownBy(() -> OwnCommand.words("/usr/bin/java", "java\0org.Other\0"))
        .isInstanceOf(CliException.class)
        .hasMessageContaining("--foreground");
  }

  @Test
  void isOurs_otherProcesses_isFalse() {
    assertThat(OwnCommand.isOurs(1)).isFalse();
    assertThat(OwnCommand.isOurs(Integer.MAX_VALUE)).isFalse();
  }
}
