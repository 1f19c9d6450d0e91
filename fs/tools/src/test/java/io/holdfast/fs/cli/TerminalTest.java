package io.holdfast.fs.cli;

import static io.holdfast.fs.linux.Libc.LIBC;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.TerminalWidth;
import io.holdfast.fs.simulate.Orders;
import io.holdfast.policy.simulator.Dataset;
import io.holdfast.policy.simulator.Scenario;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The output of commands on terminals that are as small as terminals are. */
final class TerminalTest {
  private static final int COLUMNS = 80;
  private static final int O_RDWR = 2;
  private static final long TIOCSWINSZ = 0x5414;

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
