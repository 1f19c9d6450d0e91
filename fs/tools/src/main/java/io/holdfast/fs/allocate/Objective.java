package io.holdfast.fs.allocate;

import java.util.Arrays;
import java.util.Locale;

/** The purpose of memory beyond the fair shares. */
public enum Objective {
  /** The sum of all speeds is the greatest. */
  THROUGHPUT,
  /** Whoever gains least over the speed of the fair share gains most, then the next, and so on. */
  FAIRNESS,
  /** The longest epoch is the shortest, then the next longest, and so on. */
  MAKESPAN;

  /** Returns the word for people and programs. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Reads a word.
   *
   * @throws IllegalArgumentException with one line that names the word and says what is wanted
   */
  public static Objective parse(String word) {
    return Arrays.stream(values())
        .filter(value -> value.word().equals(word))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "'" + word + "' is not known: choose one of throughput, fairness, makespan"));
  }
}
