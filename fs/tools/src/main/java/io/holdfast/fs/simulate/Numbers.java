package io.holdfast.fs.simulate;

import io.holdfast.fs.units.Human;

/** Reads plain numbers. Stateless. */
public final class Numbers {
  private Numbers() {}

  /**
   * Reads a whole number.
   *
   * @param least at least this
   * @param most at most this
   * @throws IllegalArgumentException with one line that names the text and says what is wanted
   */
  public static int whole(String text, int least, int most) {
    try {
      long number = Long.parseLong(text);
      if (number >= least && number <= most) {
        return (int) number;
      }
    } catch (NumberFormatException e) {
      // The same words tell what is wanted.
    }
    throw new IllegalArgumentException(
        "'%s' does not do: give a whole number from %s to %s"
            .formatted(text, Human.grouped(least), Human.grouped(most)));
  }

  /**
   * Reads a decimal number.
   *
   * @param what the word for it
   * @throws IllegalArgumentException with one line that names the text and says what is wanted
   */
  static double between(String text, double least, double most, String what) {
    try {
      double number = Double.parseDouble(text);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // The same words tell what is wanted.
    }
    throw new IllegalArgumentException(
        "'%s' does not do as %s: give a number from %d to %d"
            .formatted(text, what, (long) least, (long) most));
  }
}
