package io.holdfast.fs.client;

import io.holdfast.fs.host.Bar;
import io.holdfast.fs.units.Human;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Shows how far a task has come: on a terminal a bar that is redrawn, else a line every some
 * seconds. Not thread-safe.
 */
final class TaskProgress implements AutoCloseable {
  private static final double LINE_SECONDS = 5;
  private static final Bar.Unit MEBIBYTES = new Bar.Unit(" MiB", 1 << 20);

  private final String name;
  private final PrintWriter err;
  private final boolean terminal;

  private final IntSupplier columns;

  private @Nullable Bar bar;
  private double nextLine = LINE_SECONDS;

  /**
   * Begins.
   *
   * @param name what is being done
   * @param columns those that the terminal of the error output has now; 0 where it is none
   */
  TaskProgress(String name, PrintWriter err, IntSupplier columns) {
    this.name = name;
    this.err = err;
    this.terminal = columns.getAsInt() > 0;
    this.columns = columns;
  }

  /** Sees how far the task has come, several times a second. */
  void see(TaskFigures figures) {
    if (terminal && figures.isRunning()) {
      draw(figures);
    } else if (bar != null && figures.isDone()) {
      draw(figures);
      bar.finish();
    } else if (!terminal && figures.seconds() >= nextLine) {
      nextLine = figures.seconds() + LINE_SECONDS;
      err.println("holdfast: " + line(figures));
      err.flush();
    }
  }

  private void draw(TaskFigures figures) {
    if (bar == null) {
      bar = new Bar(name, figures.number("bytes"), MEBIBYTES, err, columns);
    }
    bar.to(
        figures.doneBytes(),
        " "
            + Human.count(figures.doneFiles())
            + "/"
            + Human.count(figures.number("files"), "file"));
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
    }
  }
}
