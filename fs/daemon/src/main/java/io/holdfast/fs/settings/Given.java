package io.holdfast.fs.settings;

import java.util.List;
import java.util.Locale;

/**
 * What somebody said of one setting, and where. Immutable.
 *
 * @param values as texts; more than one only for options that may be given several times
 * @param source in words, as {@link Settings#source} has it: {@code flag --capacity}, {@code
 *     environment HOLDFAST_CAPACITY}, {@code /etc/holdfast/imagenet.yaml:3}
 */
public record Given(Setting<?> setting, List<String> values, String source) {
  /** The source of an argument that is no option. */
  public static final String ARGUMENT = "argument";

  private static final String FLAG = "flag ";
  private static final String ENVIRONMENT = "environment ";

  public Given {
    values = List.copyOf(values);
  }

  /** As an argument on the command line. */
  public static Given argument(Setting<?> setting, String value) {
    return new Given(setting, List.of(value), ARGUMENT);
  }

  /**
   * As an option on the command line.
   *
   * @throws IllegalArgumentException where it is to be on or off, and is neither
   */
  public static Given flag(Setting<?> setting, List<String> values) {
    String option = values.equals(List.of("false")) ? "--no-" + setting.name() : setting.flag();
    return new Given(setting, normal(setting, values), FLAG + option);
  }

  /**
   * As a variable of the environment.
   *
   * @throws SettingsException where it is to be on or off, and is neither
   */
  static Given variable(Setting<?> setting, List<String> values) {
    try {
      return new Given(setting, normal(setting, values), ENVIRONMENT + setting.variable());
    } catch (IllegalArgumentException e) {
      throw new SettingsException(setting.variable() + " " + e.getMessage());
    }
  }

  private static List<String> normal(Setting<?> setting, List<String> values) {
    return values.stream().map(setting.kind()::normal).toList();
  }

  /** Returns the first value, for settings that have one. */
  public String value() {
    return values.get(0);
  }

  /** Tells whether a file said it. */
  public boolean isFromFile() {
    return source.startsWith("/");
  }

  /** Returns what messages begin with: the option, the variable, or file, line and key. */
  public String label() {
    if (source.startsWith(FLAG)) {
      return source.substring(FLAG.length());
    }
    if (source.startsWith(ENVIRONMENT)) {
      return source.substring(ENVIRONMENT.length());
    }
    return isFromFile() ? source + ": " + setting.name() : setting.name().toUpperCase(Locale.ROOT);
  }
}
