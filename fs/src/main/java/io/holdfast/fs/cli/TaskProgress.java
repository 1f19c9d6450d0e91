package io.holdfast.fs.cli;

import io.holdfast.fs.units.Human;
import java.io.PrintWriter;
import java.util.Locale;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/**
 * Shows how far a task has come: on a terminal a bar that is redrawn, else a line every some
 * seconds. Not thread-safe.
 */
final class TaskProgress implements TaskClient.Watcher, AutoCloseable {
  private static final int WIDTH = 100;
  private static final int INTERVAL_MILLIS = 250;
  private static final double LINE_SECONDS = 5;
  private static final long MEGABYTE = 1_000_000;

  private final String name;
  private final PrintWriter err;
  private final boolean terminal;
  private @Nullable ProgressBar bar;
  private double nextLine = LINE_SECONDS;

  /**
   * Begins.
   *
   * @param name what is being done
   * @param terminal whether somebody watches the error output
   */
  TaskProgress(String name, PrintWriter err, boolean terminal) {
    this.name = name;
    this.err = err;
    this.terminal = terminal;
  }

  @Override
  public void see(TaskFigures figures) {
    if (terminal && figures.isRunning()) {
      draw(figures);
    } else if (!terminal && figures.seconds() >= nextLine) {
      nextLine = figures.seconds() + LINE_SECONDS;
      err.println("holdfast: " + line(figures));
      err.flush();
    }
  }

  private void draw(TaskFigures figures) {
    ProgressBar drawn = bar == null ? start(figures.number("bytes")) : bar;
    bar = drawn;
    drawn.stepTo(figures.doneBytes());
    drawn.setExtraMessage(
        " "
            + Human.count(figures.doneFiles())
            + "/"
            + Human.count(figures.number("files"), "file"));
  }

  private ProgressBar start(long bytes) {
    return new ProgressBarBuilder()
        .setTaskName(name)
        .setInitialMax(bytes)
        .setUnit(" MB", MEGABYTE)
        .setStyle(ProgressBarStyle.ASCII)
        .setUpdateIntervalMillis(INTERVAL_MILLIS)
        .showSpeed()
        .setConsumer(
            new DelegatingProgressBarConsumer(
                text -> {
                  err.print("\r" + text);
                  err.flush();
                },
                WIDTH))
        .build();
  }

  private String line(TaskFigures figures) {
    if (!figures.isRunning()) {
      return name + ": names are being listed";
    }
    long bytes = figures.number("bytes");
    long done = figures.doneBytes();
    double rate = done / figures.seconds();
    String left = rate < 1 ? "" : ", " + Human.seconds((long) ((bytes - done) / rate)) + " left";
    return String.format(
        Locale.ROOT,
        "%s: %s of %s, %s of %s (%.0f %%), %s/s%s",
        name,
        Human.count(figures.doneFiles()),
        Human.count(figures.number("files"), "file"),
        Human.bytes(done),
        Human.bytes(bytes),
        bytes == 0 ? 100.0 : 100.0 * done / bytes,
        Human.bytes((long) rate),
        left);
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
      err.print("\r" + " ".repeat(WIDTH) + "\r");
      err.flush();
    }
  }
}
