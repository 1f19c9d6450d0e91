package io.holdfast.fs.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The bar of a task on terminals that are as small as terminals are. */
class TaskProgressTest {
  private static final int COLUMNS = 80;

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

  @Test
  void barOfWhatWasStopped_leavesNothing() {
    StringWriter err = new StringWriter();
    try (TaskProgress progress = new TaskProgress("warming", new PrintWriter(err), () -> COLUMNS)) {
      progress.see(figures("running", 117_000_000_000L));
      progress.see(figures("stopped", 118_000_000_000L));
    }
    assertThat(err.toString()).endsWith("\r" + " ".repeat(COLUMNS - 1) + "\r");
  }
}
