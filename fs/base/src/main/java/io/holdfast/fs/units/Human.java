package io.holdfast.fs.units;

import java.util.Locale;

/**
 * Shows figures to people: few digits, the same everywhere whatever the locale. Bytes are in binary
 * units, as {@link Sizes} reads them: {@code 64G} is shown as {@code 64.0 GiB}. Stateless.
 */
public final class Human {
  private static final String[] BYTE_UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  private static final String[] COUNT_UNITS = {"", "k", "M", "G", "T", "P", "E"};

  /** Counts below this are shown in full. */
  private static final long FULL_COUNT = 100_000;

  private Human() {}

  /**
   * Shows bytes with three digits and a binary unit: {@code 601 GiB}, {@code 1.23 TiB}, {@code 0
   * B}.
   */
  public static String bytes(long bytes) {
    int unit = 0;
    double value = bytes;
    while (value >= 999.5 && unit < BYTE_UNITS.length - 1) {
      value /= 1024;
      unit++;
    }
    return (unit == 0 ? Long.toString(bytes) : threeDigits(value)) + " " + BYTE_UNITS[unit];
  }

  /** Shows a number: in full below 100,000, else {@code 300 k}, {@code 1.2 M}, {@code 12 M}. */
  public static String count(long count) {
    if (count < FULL_COUNT) {
      return grouped(count);
    }
    int unit = 0;
    double value = count;
    while (value >= 999.5 && unit < COUNT_UNITS.length - 1) {
      value /= 1000;
      unit++;
    }
    String digits = String.format(Locale.ROOT, value < 9.95 ? "%.1f" : "%.0f", value);
    return digits + " " + COUNT_UNITS[unit];
  }

  /** Shows a number of things: {@code 1 file}, {@code 842 files}, {@code 1.2 M files}. */
  public static String count(long count, String thing) {
    return count(count) + " " + thing + (count == 1 ? "" : "s");
  }

  /** Shows a number in full, in groups of three: {@code 1,234,567}. */
  public static String grouped(long count) {
    return String.format(Locale.ROOT, "%,d", count);
  }

  /** Shows a ratio with two decimals, never rounded up to 1.00: {@code 0.65}. */
  public static String ratio(double ratio) {
    double shown = ratio < 1 ? Math.min(ratio, 0.99) : ratio;
    return String.format(Locale.ROOT, "%.2f", shown);
  }

  /**
   * Shows a span of time with its two largest units: {@code 2 d 3 h}, {@code 5 min 12 s}, {@code 4
   * s}.
   */
  public static String seconds(long seconds) {
    if (seconds < 60) {
      return seconds + " s";
    }
    if (seconds < 3_600) {
      return seconds / 60 + " min " + seconds % 60 + " s";
    }
    if (seconds < 86_400) {
      return seconds / 3_600 + " h " + seconds % 3_600 / 60 + " min";
    }
    return seconds / 86_400 + " d " + seconds % 86_400 / 3_600 + " h";
  }

  private static String threeDigits(double value) {
    String format = value < 9.995 ? "%.2f" : value < 99.95 ? "%.1f" : "%.0f";
    return String.format(Locale.ROOT, format, value);
  }
}
