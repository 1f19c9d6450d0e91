package io.holdfast.fs.watch;

import io.holdfast.fs.units.Human;
import java.util.Locale;

/** Figures as the tables of this package show them. Stateless. */
final class Shown {
  private static final double MANY = 100;

  private Shown() {}

  /** A number that may be below one: {@code 0.4}, {@code 12.3}, {@code 4,567}. */
  static String rate(double rate) {
    return rate > 0 && rate < MANY - 0.05
        ? String.format(Locale.ROOT, "%.1f", rate)
        : Human.count(Math.round(rate));
  }

  static String bytes(double bytes) {
    return Human.bytes(Math.round(bytes));
  }

  /** A share as {@code 37 %}, never rounded up to 100; a dash for what is not a number. */
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

  /** Seconds with a digit behind the point below a minute: {@code 4.2 s}. */
  static String seconds(double seconds) {
    return seconds < 59.95
        ? String.format(Locale.ROOT, "%.1f s", seconds)
        : Human.seconds(Math.round(seconds));
  }

  /** Names from outside may hold anything; on a line they have no control characters. */
  static String name(String name) {
    return name.codePoints()
        .map(c -> Character.isISOControl(c) || isInvisible(c) ? '?' : c)
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }

  private static boolean isInvisible(int c) {
    int type = Character.getType(c);
    return type == Character.FORMAT
        || type == Character.SURROGATE
        || type == Character.LINE_SEPARATOR
        || type == Character.PARAGRAPH_SEPARATOR;
  }
}
