package io.holdfast.fs.manual;

import io.holdfast.fs.manual.Definition.Choice;
import io.holdfast.fs.manual.Definition.Command;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Makes scripts by which shells complete commands, options, values and the names of running mounts.
 * The scripts start no Java. Stateless.
 */
public final class Completions {
  /** The shells. */
  public enum Shell {
    BASH,
    ZSH,
    FISH
  }

  private Completions() {}

  /** Returns the script for a shell. */
  public static String of(Definition program, Shell shell) {
    return switch (shell) {
      case BASH -> BashCompletion.of(program);
      case ZSH -> ZshCompletion.of(program);
      case FISH -> FishCompletion.of(program);
    };
  }

  /** Returns the first sentence, to show it beside a word. */
  static String brief(String description) {
    int end = description.indexOf(". ");
    String first = end < 0 ? description : description.substring(0, end);
    return first.endsWith(".") ? first.substring(0, first.length() - 1) : first;
  }

  /** Returns all spellings of all options. */
  static String names(Command command) {
    return names(command.options()).collect(Collectors.joining(" "));
  }

  static Stream<String> names(List<Choice> options) {
    return options.stream().flatMap(option -> option.names().stream());
  }

  /** Quotes a text for a shell. */
  static String quoted(String text) {
    return "'" + text.replace("'", "'\\''") + "'";
  }
}
