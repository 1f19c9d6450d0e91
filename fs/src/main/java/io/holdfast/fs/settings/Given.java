package io.holdfast.fs.cli;

import io.holdfast.fs.daemon.Settings;
import java.util.List;
import java.util.Locale;

/**
 * What somebody said of one setting, and where. Immutable.
 *
 * @param values as texts; more than one only for options that may be given several times
 * @param source in words, as {@link Settings#source} has it: {@code flag --capacity}, {@code
 *     environment HOLDFAST_CAPACITY}, {@code /etc/holdfast/imagenet.yaml:3}
 */
record Given(Settings.Key key, List<String> values, String source) {
  /** The source of an argument that is no option. */
  static final String ARGUMENT = "argument";

  private static final String FLAG = "flag ";
  private static final String ENVIRONMENT = "environment ";

  Given {
    values = List.copyOf(values);
  }

  /** As an argument on the command line. */
  static Given argument(Settings.Key key, String value) {
    return new Given(key, List.of(value), ARGUMENT);
  }

  /** As an option on the command line. */
  static Given flag(Settings.Key key, List<String> values) {
    String no = values.equals(List.of("false")) ? "no-" : "";
    return new Given(key, values, FLAG + "--" + no + key.text());
  }

  /** As a variable of the environment. */
  static Given variable(Settings.Key key, List<String> values) {
    return new Given(key, values, ENVIRONMENT + variable(key));
  }

  /** Returns the name of a setting's variable. */
  static String variable(Settings.Key key) {
    return "HOLDFAST_" + key.name();
  }

  /** Returns the first value, for settings that have one. */
  String value() {
    return values.get(0);
  }

  /** Tells whether a file said it. */
  boolean isFromFile() {
    return source.startsWith("/");
  }

  /** Returns what messages begin with: the option, the variable, or file, line and key. */
  String label() {
    if (source.startsWith(FLAG)) {
      return source.substring(FLAG.length());
    }
    if (source.startsWith(ENVIRONMENT)) {
      return source.substring(ENVIRONMENT.length());
    }
    return isFromFile() ? source + ": " + key.text() : key.text().toUpperCase(Locale.ROOT);
  }
}
