package io.holdfast.fs.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.holdfast.fs.figures.LogLine;
import io.holdfast.fs.units.Visible;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;

/**
 * Keeps the last warnings and errors of the log, for the page of a mount. Bounded in lines and in
 * their length. Thread-safe; the monitor of {@link #lines} guards it.
 */
final class RecentLines extends AppenderBase<ILoggingEvent> {
  /** The name by which the log finds it again. */
  static final String NAME = "recent";

  static final int MOST_LINES = 32;

  /** The most characters of a line. */
  static final int LONGEST = 500;

  private final Deque<LogLine> lines = new ArrayDeque<>();

  RecentLines() {
    setName(NAME);
  }

  @Override
  protected void append(ILoggingEvent event) {
    if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
      LogLine line =
          new LogLine(
              Instant.ofEpochMilli(event.getTimeStamp()).truncatedTo(ChronoUnit.SECONDS).toString(),
              event.getLevel().toString().toLowerCase(Locale.ROOT),
              shortened(Visible.of(String.valueOf(event.getFormattedMessage()))));
      synchronized (lines) {
        lines.addFirst(line);
        if (lines.size() > MOST_LINES) {
          lines.removeLast();
        }
      }
    }
  }

  private static String shortened(String text) {
    return text.length() <= LONGEST ? text : text.substring(0, LONGEST - 1) + "…";
  }

  /** Returns the lines, the newest first. */
  List<LogLine> newestFirst() {
    synchronized (lines) {
      return List.copyOf(lines);
    }
  }
}
