package io.holdfast.fs.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.units.Level;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ColorsTest {
  private static final Map<String, String> XTERM = Map.of("TERM", "xterm");

  @Test
  void terminal_hasColours() {
    Colors colors = Colors.of(true, XTERM);
    assertThat(colors.bold("a")).isEqualTo("\u001b[1ma\u001b[0m");
    assertThat(colors.of(Level.POOR, "a")).isEqualTo("\u001b[31ma\u001b[0m");
  }

  @Test
  void elsewhere_thereAreNone() {
    assertThat(Colors.of(false, XTERM).bold("a")).isEqualTo("a");
    assertThat(Colors.of(true, Map.of()).bold("a")).isEqualTo("a");
    assertThat(Colors.of(true, Map.of("TERM", "dumb")).bold("a")).isEqualTo("a");
    assertThat(Colors.of(true, Map.of("TERM", "xterm", "NO_COLOR", "1")).bold("a")).isEqualTo("a");
  }

  @Test
  void emptyNoColor_refusesNothing() {
    assertThat(Colors.of(true, Map.of("TERM", "xterm", "NO_COLOR", "")).bold("a")).contains("[1m");
  }

  @Test
  void headings_areLinesThatAreNotIndented() {
    assertThat(Colors.of(true, XTERM).headings("a\n  b\n\nc\n"))
        .isEqualTo("\u001b[1ma\u001b[0m\n  b\n\n\u001b[1mc\u001b[0m\n");
    assertThat(Colors.of(false, XTERM).headings("a\n  b\n")).isEqualTo("a\n  b\n");
  }
}
