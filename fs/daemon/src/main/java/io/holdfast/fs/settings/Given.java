package io.holdfast.fs.settings;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * A value that the user gave for one setting, and where. Immutable.
 *
 * @param values as texts; more than one only for options that may be given several times
 * @param source in words, as {@link Settings#source} returns it: {@code flag --capacity}, {@code
 *     environment HOLDFAST_CAPACITY}, {@code /etc/holdfast/imagenet.yaml:3}
 */
public record Given(Setting<?> setting, List<String> values, String source) {
  /** The source of an argument that is no option. */
  public static final String ARGUMENT = "argument";

  /** The beginning of the source of a capacity that is a part of the node's memory for mounts. */
  private static final String NODE_BUDGET = "node budget ";

  private static final String FLAG = "flag ";
  private static final String ENVIRONMENT = "environment ";

  public Given {
    values = List.copyOf(values);
  }

  /** Creates a value from an argument of the command line. */
  public static Given argument(Setting<?> setting, String value) {
    return new Given(setting, List.of(value), ARGUMENT);
  }

  /**
   * Creates a value from an option of the command line.
   *
   * @throws IllegalArgumentException if the setting is on or off, and the value is neither
   */
  public static Given flag(Setting<?> setting, List<String> values) {
    String option = values.equals(List.of("false")) ? "--no-" + setting.name() : setting.flag();
    return new Given(setting, normal(setting, values), FLAG + option);
  }

  /**
   * Creates a value from an environment variable.
   *
   * @throws SettingsException if the setting is on or off, and the value is neither
   */
  static Given variable(Setting<?> setting, List<String> values) {
    try {
      return new Given(setting, normal(setting, values), ENVIRONMENT + setting.variable());
    } catch (IllegalArgumentException e) {
      throw new SettingsException(setting.variable() + " " + e.getMessage());
    }
  }

  /**
   * Creates the capacity that a mount got as its part of the node's memory for mounts.
   *
   * @param file the file that names this memory
   */
  public static Given ofNodeBudget(long bytes, Path file) {
    return new Given(
        SettingTable.CAPACITY, List.of(Long.toString(bytes)), NODE_BUDGET + "(" + file + ")");
  }

  private static List<String> normal(Setting<?> setting, List<String> values) {
    return values.stream().map(setting.kind()::normal).toList();
  }

  /** Returns the first value, for settings that have only one. */
  public String value() {
    return values.get(0);
  }

  /** Tells whether the value is a part of the node's memory for mounts. */
  public boolean isOfNodeBudget() {
    return isNodeBudget(source);
  }

  static boolean isNodeBudget(String source) {
    return source.startsWith(NODE_BUDGET);
  }

  /** Tells whether the value is from a file. */
  public boolean isFromFile() {
    return source.startsWith("/");
  }

  /**
   * Returns the beginning of messages about the value: the option, the variable, or file, line and
   * key.
   */
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
