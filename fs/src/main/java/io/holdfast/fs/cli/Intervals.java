package io.holdfast.fs.cli;

import io.holdfast.fs.units.Durations;
import java.time.Duration;

/** Reads what commands that look again and again are told of times. Stateless. */
final class Intervals {
  private static final Duration SHORTEST = Duration.ofMillis(100);

  private Intervals() {}

  /** Reads the value of {@code --interval}; a number without a unit is in seconds. */
  static Duration parse(String text) {
    Duration interval = time("--interval", text);
    if (interval.compareTo(SHORTEST) < 0) {
      throw CliException.usage("--interval '" + text + "' is too short: give at least 100ms");
    }
    return interval;
  }

  /** Reads a time; a number without a unit is in seconds. */
  static Duration time(String option, String text) {
    try {
      return Durations.parse(text.matches("[0-9.]+") ? text + "s" : text);
    } catch (IllegalArgumentException e) {
      throw CliException.usage(option + " " + e.getMessage(), e);
    }
  }

  /** Checks the value of an option that counts. */
  static long count(String option, long count) {
    if (count < 1) {
      throw CliException.usage(option + " '" + count + "' is too small: give at least 1");
    }
    return count;
  }
}
