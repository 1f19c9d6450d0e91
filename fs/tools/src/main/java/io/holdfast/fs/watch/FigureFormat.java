package io.holdfast.fs.watch;

import io.holdfast.fs.units.Human;
import java.util.Locale;

/** Formats figures for the tables of this package. Stateless. */
final class FigureFormat {
  private static final double MANY = 100;

  private FigureFormat() {}

  /** Formats a number that may be below one: {@code 0.4}, {@code 12.3}, {@code 4,567}. */
  static String rate(double rate) {
    return rate > 0 && rate < MANY - 0.05
        ? String.format(Locale.ROOT, "%.1f", rate)
        : Human.count(Math.round(rate));
  }

  static String bytes(double bytes) {
    return Human.bytes(Math.round(bytes));
  }

  /** Formats a share as {@code 37 %}, never rounded up to 100; NaN is a dash. */
  static String percent(double share) {
    if (Double.isNaN(share)) {
      return "-";
    }
    long percent = share < 1 ? Math.min(99, Math.round(100 * share)) : Math.round(100 * share);
    return percent + " %";
  }

  static String ratio(double ratio) {
    return Double.isNaN(ratio) ? "-" : Human.ratio(ratio);
  }

  /**
   * Formats seconds, with three digits below a minute: {@code 146 ms}, {@code 1.23 s}, {@code 12.3
   * s}.
   */
  static String seconds(double seconds) {
    if (seconds >= 59.95) {
      return Human.seconds(Math.round(seconds));
    }
    if (seconds >= 9.995) {
      return String.format(Locale.ROOT, "%.1f s", seconds);
    }
    if (seconds >= 0.9995) {
      return String.format(Locale.ROOT, "%.2f s", seconds);
    }
    return seconds <= 0
        ? "0 s"
        : String.format(Locale.ROOT, seconds < 0.00995 ? "%.1f ms" : "%.0f ms", 1000 * seconds);
  }
}
