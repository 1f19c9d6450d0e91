package io.holdfast.fs.start;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Writes words so that a shell reads them as they are, and reads such words again. Stateless. */
final class ShellWords {
  private ShellWords() {}

  /** Writes a word. */
  static String quoted(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }

  /** Writes words, with blanks between them. */
  static String quoted(List<String> words) {
    return words.stream().map(ShellWords::quoted).collect(Collectors.joining(" "));
  }

  /**
   * Reads the words of a text, whose lines part words as blanks do. Knows quotes of one kind and
   * backslashes, which is all that {@link #quoted} writes.
   */
  static List<String> parse(String text) {
    List<String> words = new ArrayList<>();
    StringBuilder word = new StringBuilder();
    boolean isWord = false;
    boolean isQuoted = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\'') {
        isQuoted = !isQuoted;
        isWord = true;
      } else if (!isQuoted && (c == ' ' || c == '\n')) {
        if (isWord) {
          words.add(word.toString());
          word.setLength(0);
          isWord = false;
        }
      } else {
        if (!isQuoted && c == '\\' && i + 1 < text.length()) {
          i++;
        }
        word.append(text.charAt(i));
        isWord = true;
      }
    }
    if (isWord) {
      words.add(word.toString());
    }
    return words;
  }
}
