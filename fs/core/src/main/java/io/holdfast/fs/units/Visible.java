package io.holdfast.fs.units;

import java.util.HexFormat;
import java.util.Locale;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;

/**
 * Makes names that anybody may have chosen fit for a terminal, a log and a line: what would move
 * the cursor, end the line, turn the direction of the text or not be seen is written as an escape,
 * such as {@code \n}, {@code \x1b} or {@code \u202e}. A name of a file, a process, a variable, a
 * key or a node passes through here before people see it. Stateless.
 *
 * <p>A backslash stays as it is, so that a text which passes twice is the same as one that passes
 * once: a message is escaped where a name gets into it, or as a whole by the log, or by both.
 */
public final class Visible {
  private static final int DELETE = 0x7f;
  private static final int BYTE = 0x100;
  private static final int SUPPLEMENT = 0x10000;

  private Visible() {}

  /** Returns a text on one line, without anything that is not seen. */
  public static String of(String text) {
    return escaped(text, Visible::isHidden, Visible::escape);
  }

  /**
   * Returns JSON that says the same, without anything that is not seen but line feeds between its
   * parts. Libraries escape in it what JSON asks for, which leaves some that terminals obey.
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
