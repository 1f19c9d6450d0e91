package io.holdfast.fs.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;

/**
 * Leaves out lines of the log that come too often, and says how many they were. A user who makes
 * reads fail in a loop would otherwise push everything else out of the log's bounded files.
 *
 * <p>Lines are alike when they come from one place in the code: the names in them may be chosen by
 * users, and there may be as many as there are files. Of those that are alike {@link #BURST} may
 * come at once, and then one a second. Lines of levels below {@code info} pass: somebody asked for
 * them. Thread-safe; the monitor guards all of it.
 */
final class RepeatedLines extends TurboFilter {
  /** Lines that are alike and may come together. */
  static final int BURST = 100;

  /** Kinds of lines that are told apart; all others share one bound. */
  static final int MOST_KINDS = 512;

  private static final long NANOS_A_LINE = 1_000_000_000L;
  private static final String LEFT_OUT = "{} lines like the next one were left out";

  private final LongSupplier nanoTime;
  private final Map<String, Kind> kinds = new HashMap<>();

  /** What has come of one kind. */
  private static final class Kind {
    /** When all that came has been paid for, at a line a second. */
    long paidAt;

    long leftOut;

    Kind(long now) {
      paidAt = now;
    }
  }

  RepeatedLines(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  @Override
  public FilterReply decide(
      Marker marker,
      Logger logger,
      Level level,
      @Nullable String format,
      Object @Nullable [] params,
      @Nullable Throwable thrown) {
    if (format == null
        || format.equals(LEFT_OUT)
        || !level.isGreaterOrEqual(Level.INFO)
        || !level.isGreaterOrEqual(logger.getEffectiveLevel())) {
      return FilterReply.NEUTRAL;
    }
    long before = leftOutBefore(logger.getName() + format);
    if (before > 0) {
      logger.warn(LEFT_OUT, before);
    }
    return before < 0 ? FilterReply.DENY : FilterReply.NEUTRAL;
  }

  /** Returns how many were left out before this one, or a negative number where it is as well. */
  private synchronized long leftOutBefore(String name) {
    long now = nanoTime.getAsLong();
    String known = kinds.containsKey(name) || kinds.size() < MOST_KINDS ? name : "";
    Kind kind = kinds.computeIfAbsent(known, each -> new Kind(now));
    kind.paidAt = Math.max(now, kind.paidAt);
    if (kind.paidAt - now > (BURST - 1) * NANOS_A_LINE) {
      kind.leftOut++;
      return -1;
    }
    kind.paidAt += NANOS_A_LINE;
    long before = kind.leftOut;
    kind.leftOut = 0;
    return before;
  }
}
