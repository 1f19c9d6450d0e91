package io.holdfast.fs.watch.live;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Collections;
import org.jline.terminal.Terminal;
import org.jline.terminal.impl.ExternalTerminal;
import org.jline.utils.AttributedString;
import org.junit.jupiter.api.Test;

class FullScreenTest {
  private static String drawn(int lines, int height) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (Terminal terminal =
        new ExternalTerminal("test", "xterm", InputStream.nullInputStream(), out, UTF_8)) {
      FullScreen.draw(terminal, Collections.nCopies(lines, new AttributedString("x")), height);
    }
    return out.toString(UTF_8);
  }

  /** A new line behind the last one moved the first one out of the screen. */
  @Test
  void screenThatIsFull_isNotMoved() throws IOException {
    assertThat(drawn(24, 24).split("\r\n", -1)).hasSize(24);
    assertThat(drawn(23, 24)).endsWith("\r\n\u001b[J");
  }
}
