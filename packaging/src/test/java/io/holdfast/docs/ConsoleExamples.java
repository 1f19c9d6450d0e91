package io.holdfast.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The commands that a document shows at a prompt, in blocks of the language {@code console}. */
public final class ConsoleExamples {
  private static final String BEGIN = "```console";
  private static final String END = "```";
  private static final String PROMPT = "$ ";

  /**
   * A command and its output.
   *
   * @param command a line for the shell
   * @param output lines, each with its end; empty where it prints nothing
   */
  public record Example(String command, String output) {}

  private ConsoleExamples() {}

  /** Returns the examples of a document in their order. */
  public static List<Example> of(Path document) throws IOException {
    List<Example> examples = new ArrayList<>();
    boolean inside = false;
    for (String line : Files.readAllLines(document)) {
      if (line.equals(inside ? END : BEGIN)) {
        inside = !inside;
      } else if (inside && line.startsWith(PROMPT)) {
        examples.add(new Example(line.substring(PROMPT.length()), ""));
      } else if (inside) {
        Example last = examples.remove(examples.size() - 1);
        examples.add(new Example(last.command(), last.output() + line + "\n"));
      }
    }
    return examples;
  }
}
