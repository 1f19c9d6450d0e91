package io.holdfast.fs.units;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;

/**
 * Reads durations as people write them: {@code 500ms}, {@code 60s}, {@code 5m}, {@code 1h}, {@code
 * 2d}, {@code 0}. Stateless.
 */
public final class Durations {
  /** Longest duration that is accepted; whole seconds of it fit 32 bits. */
  public static final Duration LONGEST = Duration.ofSeconds(Integer.MAX_VALUE);

  private Durations() {}

  /**
   * Reads a duration.
   *
   * @param text a number with a unit, or {@code 0}
   * @return not negative, at most {@link #LONGEST}, in whole milliseconds
   * @throws IllegalArgumentException with one line that names the text and says what a duration
   *     looks like
   */
  public static Duration parse(String text) {
    int digits = Sizes.numberLength(text);
    if (digits == 0) {
      throw notADuration(text);
    }
    BigDecimal number = new BigDecimal(text.substring(0, digits));
    String unit = text.substring(digits).trim();
    long millis =
        switch (unit) {
          case "ms" -> 1;
          case "s" -> 1_000;
          case "m", "min" -> 60_000;
          case "h" -> 3_600_000;
          case "d" -> 86_400_000;
          case "" -> {
            if (number.signum() != 0) {
              throw new IllegalArgumentException(
                  "'"
                      + text
                      + "' has no unit: write ms, s, m or h behind it, such as "
                      + text
                      + "s");
            }
            yield 1;
          }
          default -> throw notADuration(text);
        };
    BigDecimal total = number.multiply(BigDecimal.valueOf(millis));
    if (total.compareTo(BigDecimal.valueOf(LONGEST.toMillis())) > 0) {
      throw new IllegalArgumentException("'" + text + "' is too long: at most 68 years");
    }
    return Duration.ofMillis(total.setScale(0, RoundingMode.DOWN).longValueExact());
  }

  /**
   * Writes a duration so that {@link #parse} reads the same milliseconds again, in the largest unit
   * that needs no fraction.
   */
  public static String exact(Duration duration) {
    long millis = duration.toMillis();
    if (millis == 0) {
      return "0";
    }
    if (millis % 3_600_000 == 0) {
      return millis / 3_600_000 + "h";
    }
    if (millis % 60_000 == 0) {
      return millis / 60_000 + "m";
    }
    return millis % 1_000 == 0 ? millis / 1_000 + "s" : millis + "ms";
  }

  private static IllegalArgumentException notADuration(String text) {
    return new IllegalArgumentException(
        "'" + text + "' is not a duration: write a number with ms, s, m or h, such as 60s");
  }
}
