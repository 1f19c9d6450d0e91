package io.holdfast.fs.watch.live;

import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.OwnProcess;
import io.holdfast.fs.linux.NamedThreads;
import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jline.terminal.Attributes;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedString;
import org.jline.utils.InfoCmp.Capability;

/**
 * The terminal of this process while a command has all of it. Closing gives it back as it was, and
 * so does the end of the process by a signal. One thread shows and reads keys; {@link #close} may
 * be called by any.
 */
final class FullScreen implements Closeable {
  private static final int SMALLEST = 1;

  private final OwnProcess process;
  private final Terminal terminal;
  private final AtomicBoolean resized = new AtomicBoolean();
  private final Thread atExit = NamedThreads.named("terminal", this::leave);
  private boolean closed;

  /** Makes the lines for a size. */
  interface Lines {
    /** Returns at most {@code height} lines, none wider than {@code width}. */
    List<AttributedString> of(int width, int height);
  }

  private FullScreen(OwnProcess process, Terminal terminal) {
    this.process = process;
    this.terminal = terminal;
  }

  /**
   * Takes the terminal.
   *
   * @throws CliException where it cannot show more than lines
   */
  static FullScreen open(OwnProcess process) throws IOException {
    Terminal terminal = terminal();
    if (terminal.getStringCapability(Capability.cursor_home) == null) {
      terminal.close();
      throw CliException.couldNot(
          "this terminal (" + terminal.getType() + ") has no full screen: give --batch for text");
    }
    FullScreen screen = new FullScreen(process, terminal);
    process.atExit(screen.atExit);
    screen.take();
    return screen;
  }

  /** By stty: no native library is unpacked to anywhere. */
  private static Terminal terminal() throws IOException {
    try {
      return TerminalBuilder.builder()
          .system(true)
          .provider("exec")
          .dumb(false)
          .encoding(StandardCharsets.UTF_8)
          .nativeSignals(false) // else SIGINT would end the process without its hooks
          .build();
    } catch (IllegalStateException e) {
      throw CliException.couldNot(
          "this terminal cannot be used: give --batch for text; " + e.getMessage(), e);
    }
  }

  private void take() {
    terminal.enterRawMode();
    Attributes raw = terminal.getAttributes();
    raw.setControlChar(Attributes.ControlChar.VSUSP, 0); // stopped, it would keep the screen
    terminal.setAttributes(raw);
    terminal.handle(Terminal.Signal.WINCH, signal -> resized.set(true));
    terminal.puts(Capability.enter_ca_mode);
    terminal.puts(Capability.cursor_invisible);
    terminal.flush();
  }

  /** Tells whether the size may have changed since the last time it was asked. */
  boolean wasResized() {
    return resized.get();
  }

  /** Waits for a key; returns it, -1 at the end of the input, -2 when there was none. */
  int key(long millis) throws IOException {
    return terminal.reader().read(millis);
  }

  /** Shows lines in place of the last ones. */
  synchronized void show(Lines lines) {
    if (closed) {
      return;
    }
    resized.set(false);
    Size size = terminal.getSize();
    int width = Math.max(SMALLEST, size.getColumns());
    int height = Math.max(SMALLEST, size.getRows());
    draw(terminal, lines.of(width, height), height);
  }

  /**
   * Writes lines from the top; the last line of the screen ends without a new one, which would move
   * all up.
   */
  static void draw(Terminal terminal, List<AttributedString> lines, int height) {
    terminal.puts(Capability.cursor_home);
    String separator = "";
    for (AttributedString line : lines) {
      terminal.writer().write(separator);
      // Before the text: behind a line that fills the screen's width it would erase the last
      // letter.
      terminal.puts(Capability.clr_eol);
      terminal.writer().write(line.toAnsi(terminal));
      separator = "\r\n";
    }
    if (lines.size() < height) {
      terminal.writer().write(separator);
      terminal.puts(Capability.clr_eos);
    }
    terminal.flush();
  }

  @Override
  public void close() throws IOException {
    process.forgetAtExit(atExit);
    leave();
    terminal.close(); // with its attributes as they were
  }

  /** Shows what was there before. At the end of the process the library restores the attributes. */
  private synchronized void leave() {
    if (!closed) {
      closed = true;
      terminal.puts(Capability.cursor_normal);
      terminal.puts(Capability.exit_ca_mode);
      terminal.flush();
    }
  }
}
