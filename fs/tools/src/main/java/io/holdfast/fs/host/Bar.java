package io.holdfast.fs.host;

import java.io.PrintWriter;
import java.util.function.IntSupplier;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/**
 * The bar of all commands that let somebody wait at a terminal: one line, redrawn in place, as wide
 * as the terminal is at that moment. The line of what was finished stays, at 100 %; of what was not
 * finished nothing stays. Used by one thread; the bar is drawn by a thread of its own.
 */
public final class Bar implements AutoCloseable {
  private static final int INTERVAL_MILLIS = 250;

  private final PrintWriter err;
  private final IntSupplier columns;
  private final ProgressBar bar;
  private boolean finished;

  /**
   * A unit that counts are shown in.
   *
   * @param name shown behind a count
   * @param size how many make one
   */
  public record Unit(String name, long size) {}

  /**
   * Begins.
   *
   * @param name what is being done
   * @param all the count at the end, as far as it is known
   * @param columns those that the terminal has now
   */
  public Bar(String name, long all, Unit unit, PrintWriter err, IntSupplier columns) {
    this.err = err;
    this.columns = columns;
    this.bar =
        new ProgressBarBuilder()
            .setTaskName(name)
            .setInitialMax(all)
            .setUnit(unit.name(), unit.size())
            .setStyle(ProgressBarStyle.ASCII)
            .setUpdateIntervalMillis(INTERVAL_MILLIS)
            .showSpeed()
            .setConsumer(
                new DelegatingProgressBarConsumer(this::show) {
                  @Override
                  public int getMaxRenderedLength() {
                    return width();
                  }
                })
            .build();
  }

  private void show(String line) {
    err.print("\r" + line);
    err.flush();
  }

  /** What fits the terminal: a longer line would go on in the next one, and stay. */
  private int width() {
    return Math.max(1, columns.getAsInt() - 1);
  }

  /** Shows so many, and a text at the end of the line. */
  public void to(long done, String text) {
    bar.stepTo(done);
    bar.setExtraMessage(text);
  }

  /** Shows so many more. */
  public void advance(long more) {
    bar.stepBy(more);
  }

  /** What was done is all that there was. */
  public void finish() {
    bar.maxHint(bar.getCurrent());
    finished = true;
  }

  @Override
  public void close() {
    bar.close();
    err.print(finished ? "\n" : "\r" + " ".repeat(width()) + "\r");
    err.flush();
  }
}
