package io.holdfast.fs.units;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Locale;

/**
 * Reads sizes as people write them: a number with an optional unit. {@code 64G} and {@code 64GiB}
 * are binary, {@code 64GB} is decimal, {@code 123} and {@code 123B} are bytes. Results are bytes.
 * Stateless.
 */
public final class Sizes {
  private static final String UNITS = "KMGTPE";
  private static final int LONGEST_NUMBER = 30;

  private Sizes() {}

  /**
   * Reads a size.
   *
   * @param text such as {@code 64G}
   * @return bytes, never negative
   * @throws IllegalArgumentException with one line that names the text and says what a size looks
   *     like
   */
  public static long parse(String text) {
    int digits = numberLength(text);
    if (digits == 0) {
      throw notASize(text);
    }
    String unit = text.substring(digits).trim().toUpperCase(Locale.ROOT);
    BigDecimal bytes = number(text, digits).multiply(multiple(unit, text));
    if (bytes.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) > 0) {
      throw new IllegalArgumentException("'" + text + "' is more than any machine can hold");
    }
    return bytes.setScale(0, RoundingMode.DOWN).longValueExact();
  }

  /**
   * Reads a size or a percentage of a whole.
   *
   * @param text such as {@code 64G} or {@code 50%}
   * @param whole bytes that {@code 100%} stands for
   * @return bytes, never negative
   * @throws IllegalArgumentException with one line that names the text and says what is wanted
   */
  public static long parse(String text, long whole) {
    if (!isPercentage(text)) {
      return parse(text);
    }
    int digits = numberLength(text);
    if (digits == 0 || digits != text.length() - 1) {
      throw new IllegalArgumentException(
          "'" + text + "' is not a percentage: write a number from 0 to 100, such as 50%");
    }
    BigDecimal percent = number(text, digits);
    if (percent.compareTo(BigDecimal.valueOf(100)) > 0) {
      throw new IllegalArgumentException(
          "'" + text + "' is more than the whole: write a number from 0 to 100, such as 50%");
    }
    return percent
        .multiply(BigDecimal.valueOf(whole))
        .divide(BigDecimal.valueOf(100), 0, RoundingMode.DOWN)
        .longValueExact();
  }

  /** Tells whether the text is meant as a percentage. */
  public static boolean isPercentage(String text) {
    return text.endsWith("%");
  }

  /**
   * Writes a size so that {@link #parse(String)} reads the same number again, with the largest unit
   * that needs no fraction.
   *
   * @param bytes not negative
   */
  public static String exact(long bytes) {
    int power = bytes == 0 ? 0 : Math.min(Long.numberOfTrailingZeros(bytes) / 10, UNITS.length());
    return (bytes >> (10 * power)) + (power == 0 ? "" : UNITS.substring(power - 1, power));
  }

  private static BigDecimal multiple(String unit, String text) {
    if (unit.isEmpty() || unit.equals("B")) {
      return BigDecimal.ONE;
    }
    int power = UNITS.indexOf(unit.charAt(0)) + 1;
    if (power == 0) {
      throw notASize(text);
    }
    return switch (unit.substring(1)) {
      case "", "IB" -> BigDecimal.valueOf(1L << (10 * power));
      case "B" -> BigDecimal.TEN.pow(3 * power);
      default -> throw notASize(text);
    };
  }

  private static IllegalArgumentException notASize(String text) {
    return new IllegalArgumentException(
        "'" + text + "' is not a size: write a number with K, M, G or T, such as 64G");
  }

  private static BigDecimal number(String text, int digits) {
    return new BigDecimal(text.substring(0, digits));
  }

  /**
   * Returns the length of the decimal number, such as {@code 12} or {@code 1.5}, that the text
   * begins with; 0 for none, and for one with more digits than any size or duration has.
   */
  static int numberLength(String text) {
    int end = digitsEnd(text, 0);
    if (end > 0 && end < text.length() && text.charAt(end) == '.') {
      int fraction = digitsEnd(text, end + 1);
      end = fraction > end + 1 ? fraction : end;
    }
    return end > LONGEST_NUMBER ? 0 : end;
  }

  private static int digitsEnd(String text, int from) {
    int end = from;
    while (end < text.length() && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
      end++;
    }
    return end;
  }
}
