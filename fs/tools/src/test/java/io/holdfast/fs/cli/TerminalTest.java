package io.holdfast.fs.cli;

import static io.holdfast.fs.linux.Libc.LIBC;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.TerminalWidth;
import io.holdfast.fs.simulate.Orders;
import io.holdfast.policy.simulator.Dataset;
import io.holdfast.policy.simulator.Scenario;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jline.terminal.Terminal;
import org.jline.terminal.impl.ExternalTerminal;
import org.jline.utils.AttributedString;
import org.junit.jupiter.api.Test;

/** The output of commands on terminals that are as small as terminals are. */
final class TerminalTest {
  private static final int COLUMNS = 80;
  private static final int O_RDWR = 2;
  private static final long TIOCSWINSZ = 0x5414;

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

  private static TaskFigures figures(String state, long done) {
    return new TaskFigures(
        Map.of(
            "state",
            state,
            "bytes",
            123_456_789_000L,
            "files",
            1_234_567L,
            "seconds",
            12.5,
            "fetched",
            Map.of("files", 1_234_567L, "items", 1_234_567L, "bytes", done)));
  }

  /** The bar was 100 columns wide, so that each refresh left a line, and the last one said 95 %. */
  @Test
  void bar_fitsEightyColumns_andEndsAtAll() {
    StringWriter err = new StringWriter();
    try (TaskProgress progress = new TaskProgress("warming", new PrintWriter(err), () -> COLUMNS)) {
      progress.see(figures("running", 117_000_000_000L));
      progress.see(figures("done", 123_456_700_000L));
    }
    assertThat(err.toString()).endsWith("\n");
    List<String> shown = List.of(err.toString().strip().split("\r", -1));
    assertThat(shown).allSatisfy(line -> assertThat(line).hasSizeLessThan(COLUMNS));
    assertThat(shown.get(shown.size() - 1)).contains("warming 100%");
  }

  /**
   * Once the bar took two lines of a narrower terminal, and only a part of one that was made wider.
   */
  @Test
  void bar_fitsAsManyColumnsAsThereAreNow() {
    StringWriter err = new StringWriter();
    AtomicInteger columns = new AtomicInteger(40);
    try (TaskProgress progress = new TaskProgress("warming", new PrintWriter(err), columns::get)) {
      progress.see(figures("running", 117_000_000_000L));
      progress.see(figures("done", 123_456_700_000L));
    }
    List<String> shown = List.of(err.toString().strip().split("\r", -1));
    assertThat(shown).allSatisfy(line -> assertThat(line).hasSizeLessThan(40));
    assertThat(shown.get(shown.size() - 1)).startsWith("warming 100%");

    err.getBuffer().setLength(0);
    columns.set(120);
    try (TaskProgress progress = new TaskProgress("warming", new PrintWriter(err), columns::get)) {
      progress.see(figures("done", 0));
      progress.see(figures("running", 117_000_000_000L));
      progress.see(figures("done", 123_456_700_000L));
    }
    shown = List.of(err.toString().strip().split("\r", -1));
    assertThat(shown.get(shown.size() - 1)).hasSize(119);
  }

  /** A pair of ends is as wide as either was told to be. */
  @Test
  void width_ofATerminal_isAskedFor() {
    long size = LIBC.malloc(32);
    Memory.clear(size, 32);
    Memory.putString(size + 8, "/dev/ptmx".getBytes(UTF_8));
    int master = LIBC.openat(-1, size + 8, O_RDWR, 0);
    try {
      assertThat(master).isNotNegative();
      assertThat(TerminalWidth.of(master)).as("not known yet").isEqualTo(80);
      Memory.putShort(size + 2, 57);
      assertThat(LIBC.ioctl(master, TIOCSWINSZ, size)).isZero();
      assertThat(TerminalWidth.of(master)).isEqualTo(57);
    } finally {
      LIBC.free(size);
      LIBC.close(master);
    }
  }

  @Test
  void barOfWhatWasStopped_leavesNothing() {
    StringWriter err = new StringWriter();
    try (TaskProgress progress = new TaskProgress("warming", new PrintWriter(err), () -> COLUMNS)) {
      progress.see(figures("running", 117_000_000_000L));
      progress.see(figures("stopped", 118_000_000_000L));
    }
    assertThat(err.toString()).endsWith("\r" + " ".repeat(COLUMNS - 1) + "\r");
  }

  /** A simulation of so many reads; ends early where it does not end well. */
  private static String simulated(int columns, long reads, boolean well) {
    StringWriter err = new StringWriter();
    Scenario scenario =
        Scenario.of(Dataset.ofEqualSizes(100, 4096), Orders.parse("shuffle").of(100, 4, 1), 4, 1);
    try (SimulationProgress progress =
        SimulationProgress.of(scenario, 50_000, new PrintWriter(err), () -> columns)) {
      progress.advanced(reads);
      if (well) {
        progress.finish();
      }
    }
    return err.toString();
  }

  /** It had a bar of its own, which went away at the last figure that it was told. */
  @Test
  void barOfASimulation_fitsEightyColumns_andEndsAtAll() {
    String err = simulated(COLUMNS, 19_000_000, true);
    assertThat(err).endsWith("\n");
    List<String> shown = List.of(err.strip().split("\r", -1));
    assertThat(shown).allSatisfy(line -> assertThat(line).hasSizeLessThan(COLUMNS));
    assertThat(shown.get(shown.size() - 1)).startsWith("simulating 100% [");
  }

  @Test
  void barOfASimulation_thatFails_leavesNothing() {
    assertThat(simulated(COLUMNS, 1_000_000, false)).endsWith("\r" + " ".repeat(79) + "\r");
  }

  @Test
  void barOfASimulation_withoutATerminal_isNotThere() {
    assertThat(simulated(0, 19_000_000, true)).isEmpty();
  }
}
