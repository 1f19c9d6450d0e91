package io.holdfast.fs.control;

import io.holdfast.fs.units.Human;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What happened between one look at a mount's figures and the next, as rows of a table: {@code
 * holdfast stats --watch}. Rates are per second. Not thread-safe.
 */
public final class StatsWatch {
  private static final String FORMAT = "%8s %9s %9s %11s %9s %8s %9s %6s%n";

  private @Nullable Figures before;
  private long beforeNanos;

  /** Returns the line of headings above the rows. */
  public String heading() {
    return String.format(
        Locale.ROOT,
        FORMAT,
        "opens/s",
        "hit ratio",
        "fetches/s",
        "origin B/s",
        "peer B/s",
        "stall/s",
        "resident",
        "errors");
  }

  /**
   * Returns the row for what happened since the last call; the first one shows what happened since
   * the mount.
   *
   * @param stats as from {@link ControlCommands#stats()}
   * @param nanos when they were taken, on any clock of nanoseconds
   */
  public String row(Map<String, Object> stats, long nanos) {
    Figures now = new Figures(stats);
    Figures then = before == null ? new Figures(Map.of()) : before;
    double seconds =
        before == null
            ? Math.max(now.real("uptime_seconds"), 1)
            : Math.max((nanos - beforeNanos) / 1e9, 1e-3);
    before = now;
    beforeNanos = nanos;
    long opens = delta(now, then, "total", "opens");
    long fetched =
        delta(now, then, "items", "fetches", "origin")
            + delta(now, then, "items", "fetches", "peer");
    boolean counted = now.group("opens").is("counted");
    long errors =
        delta(now, then, "errors", "reads") + delta(now, then, "errors", "fetches", "origin");
    double stalled =
        now.group("reads").real("stall_seconds") - then.group("reads").real("stall_seconds");
    return String.format(
        Locale.ROOT,
        FORMAT,
        counted ? rate(opens, seconds) : "-",
        counted ? StatsText.hitRatio(opens, fetched) : "-",
        rate(fetched, seconds),
        Human.bytes(perSecond(delta(now, then, "bytes", "fetches", "origin"), seconds)),
        Human.bytes(perSecond(delta(now, then, "bytes", "fetches", "peer"), seconds)),
        String.format(Locale.ROOT, "%.1f s", stalled / seconds),
        Human.bytes(now.group("cache").number("resident_bytes")),
        Human.count(errors));
  }

  private static long delta(Figures now, Figures then, String key, String... groups) {
    Figures a = now;
    Figures b = then;
    for (String group : groups) {
      a = a.group(group);
      b = b.group(group);
    }
    return a.number(key) - b.number(key);
  }

  private static String rate(long count, double seconds) {
    return Human.count(perSecond(count, seconds));
  }

  private static long perSecond(long count, double seconds) {
    return Math.round(count / seconds);
  }
}
