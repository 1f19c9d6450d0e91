package io.holdfast.fs.cli;

import io.holdfast.fs.host.CliException;
import io.holdfast.fs.units.Durations;
import java.nio.file.FileSystems;
import java.time.Duration;
import java.util.regex.PatternSyntaxException;
import picocli.CommandLine.ITypeConverter;

/**
 * Reads values of options. What a reader says of a wrong value is printed behind the option's name.
 * Stateless.
 */
final class OptionValues {
  private OptionValues() {}

  /** A glob as users write it. */
  static final class Glob implements ITypeConverter<String> {
    @Override
    public String convert(String glob) {
      if (glob.isEmpty() || glob.startsWith("/")) {
        throw CliException.usage("'" + glob + "': write a name, or a path from the dataset's root");
      }
      try {
        FileSystems.getDefault().getPathMatcher("glob:" + glob);
      } catch (PatternSyntaxException e) {
        throw CliException.usage("'" + glob + "' is no glob: " + e.getDescription(), e);
      }
      return glob;
    }
  }

  /** The time from one look to the next; a number without a unit is in seconds. */
  static final class Interval implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String text) {
      return time(text, 100);
    }
  }

  /** How long an iteration of a job takes; a number without a unit is in seconds. */
  static final class Iteration implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String text) {
      return time(text, 1);
    }
  }

  /** How long something goes on; a number without a unit is in seconds. */
  static final class Budget implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String text) {
      return time(text, 500);
    }
  }

  /** How often something is done. */
  static final class Count implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      try {
        long count = Long.parseLong(text);
        if (count < 1) {
          throw CliException.usage("'" + count + "' is too small: give at least 1");
        }
        return count;
      } catch (NumberFormatException e) {
        throw CliException.usage("'" + text + "' is not a number: give one", e);
      }
    }
  }

  private static Duration time(String text, long leastMillis) {
    Duration time;
    try {
      time = Durations.parse(text.matches("[0-9.]+") ? text + "s" : text);
    } catch (IllegalArgumentException e) {
      throw CliException.usage(String.valueOf(e.getMessage()), e);
    }
    if (time.toMillis() < leastMillis) {
      throw CliException.usage(
          "'%s' is too short: give at least %dms".formatted(text, leastMillis));
    }
    return time;
  }
}
