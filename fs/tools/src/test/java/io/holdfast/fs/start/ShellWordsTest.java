package io.holdfast.fs.start;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ShellWordsTest {
  private static final List<String> ODD =
      List.of("", "a b", "it's", "'", "\\", "\\'", "$HOME `x`", "line\nset -- y", "a\t\"");

  @Test
  void words_thatAreWritten_areReadAgain() {
    assertThat(ShellWords.parse(ShellWords.quoted(ODD) + "\n")).isEqualTo(ODD);
  }

  @Test
  void words_thatAreWritten_areWhatAShellReads() throws Exception {
    String script = "set -- " + ShellWords.quoted(ODD) + "\nprintf '%s\\0' \"$@\"";
    Process shell = new ProcessBuilder("sh", "-c", script).start();
    String read = new String(shell.getInputStream().readAllBytes(), UTF_8);
    assertThat(read).isEqualTo(String.join("\0", ODD) + "\0");
  }

  @Test
  void words_ofSeveralLines_areReadOneAfterTheOther() {
    assertThat(ShellWords.parse("a='b c'\nset --  'd'e\n\n"))
        .containsExactly("a=b c", "set", "--", "de");
  }
}
