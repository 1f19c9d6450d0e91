package io.holdfast.fs.units;

import java.util.HexFormat;
import java.util.Locale;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;

/**
 * Makes names that anybody may have chosen safe for a terminal, a log and a line. Characters that
 * would move the cursor, end the line, change the direction of the text, or be invisible become
 * escapes, such as {@code \n}, {@code \x1b} or {@code \u202e}. Every name of a file, a process, a
 * variable, a key or a node passes through here before people see it. Stateless.
 *
 * <p>A backslash stays as it is, so a text may pass twice: a message is escaped when a name gets
 * into it, or as a whole by the log, or by both.
 */
public final class Visible {
  private static final int DELETE = 0x7f;
  private static final int BYTE = 0x100;
  private static final int SUPPLEMENT = 0x10000;

  private Visible() {}

  /** Returns a text on one line, without invisible characters. */
  public static String of(String text) {
    return escaped(text, Visible::isHidden, Visible::escape);
  }

  /**
   * Returns JSON that says the same, without invisible characters except line feeds between its
   * parts. Libraries escape only the characters that JSON requires, and terminals obey some of the
   * others.
   */
  public static String json(String json) {
    return escaped(json, c -> c != '\n' && isHidden(c), c -> jsonEscape(Character.toChars(c)));
  }

  private static String escaped(String text, IntPredicate isEscaped, IntFunction<String> escape) {
    if (text.codePoints().noneMatch(isEscaped)) {
      return text;
    }
    StringBuilder escaped = new StringBuilder(text.length() + 16);
    text.codePoints()
        .forEach(
            c -> {
              if (isEscaped.test(c)) {
                escaped.append(escape.apply(c));
              } else {
                escaped.appendCodePoint(c);
              }
            });
    return escaped.toString();
  }

  private static boolean isHidden(int c) {
    if (c < DELETE) {
      return c < ' ';
    }
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          true;
      default -> false;
    };
  }

  private static String escape(int c) {
    return switch (c) {
      case '\n' -> "\\n";
      case '\r' -> "\\r";
      case '\t' -> "\\t";
      default ->
          c < BYTE
              ? "\\x" + HexFormat.of().toHexDigits((byte) c)
              : c < SUPPLEMENT
                  ? "\\u" + HexFormat.of().toHexDigits((char) c)
                  : String.format(Locale.ROOT, "\\U%08x", c);
    };
  }

  private static String jsonEscape(char[] units) {
    StringBuilder escape = new StringBuilder();
    for (char unit : units) {
      escape.append("\\u").append(HexFormat.of().toHexDigits(unit));
    }
    return escape.toString();
  }
}
