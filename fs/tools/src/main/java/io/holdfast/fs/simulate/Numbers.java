package io.holdfast.fs.simulate;

import io.holdfast.fs.units.Human;

/** Parses plain numbers. Stateless. */
public final class Numbers {
  private Numbers() {}

  /**
   * Parses a whole number.
   *
   * @param least the smallest number that is allowed
   * @param most the largest number that is allowed
   * @throws IllegalArgumentException if the text is wrong, with one line that names it and says
   *     what is allowed
   */
  public static int whole(String text, int least, int most) {
    try {
      long number = Long.parseLong(text);
      if (number >= least && number <= most) {
        return (int) number;
      }
    } catch (NumberFormatException e) {
      // one message for all mistakes
    }
    throw new IllegalArgumentException(
        "'%s' does not do: give a whole number from %s to %s"
            .formatted(text, Human.grouped(least), Human.grouped(most)));
  }

  /**
   * Parses a decimal number.
   *
   * @param what the word for the number
   * @throws IllegalArgumentException if the text is wrong, with one line that names it and says
   *     what is allowed
   */
  static double between(String text, double least, double most, String what) {
    try {
      double number = Double.parseDouble(text);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // one message for all mistakes
    }
    throw new IllegalArgumentException(
        "'%s' does not do as %s: give a number from %d to %d"
            .formatted(text, what, (long) least, (long) most));
  }
}
