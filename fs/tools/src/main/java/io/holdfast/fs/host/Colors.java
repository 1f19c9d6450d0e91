package io.holdfast.fs.host;

import io.holdfast.fs.units.Level;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * Colours for what commands print: on a terminal that has them, and where the environment does not
 * refuse them with {@code NO_COLOR}. Immutable.
 */
public final class Colors {
  private static final String RESET = "\u001b[0m";

  private final boolean enabled;

  private Colors(boolean enabled) {
    this.enabled = enabled;
  }

  /**
   * Decides whether there are colours.
   *
   * @param terminal whether the output is a terminal
   * @param environment of this process
   */
  static Colors of(boolean terminal, Map<String, String> environment) {
    boolean refused = !environment.getOrDefault("NO_COLOR", "").isEmpty();
    return new Colors(
        terminal && !refused && !environment.getOrDefault("TERM", "dumb").equals("dumb"));
  }

  String bold(String text) {
    return paint("1", text);
  }

  public String of(Level level, String text) {
    return switch (level) {
      case GOOD -> paint("32", text);
      case FAIR -> paint("33", text);
      case POOR -> paint("31", text);
    };
  }

  /** Shows lines that are not indented in bold. */
  public String headings(String text) {
    return lines(text, line -> line.isBlank() || line.startsWith(" ") ? line : bold(line));
  }

  /** Shows the first line in bold. */
  public String firstLine(String text) {
    int end = text.indexOf('\n');
    return end < 0 ? bold(text) : bold(text.substring(0, end)) + text.substring(end);
  }

  /** Changes each line; all have an end. */
  public static String lines(String text, UnaryOperator<String> change) {
    return text.lines().map(change).map(line -> line + "\n").collect(Collectors.joining());
  }

  private String paint(String code, String text) {
    return enabled ? "\u001b[" + code + "m" + text + RESET : text;
  }
}
