package io.holdfast.commands;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs lines of shell as the scripts of {@code packaging} are run. */
final class Shell {
  /** The directory that the scripts call {@code $here}. */
  static final Path PACKAGING = Path.of("").toAbsolutePath();

  private Shell() {}

  /** How a script ended, and all that it printed. */
  record Result(int exit, String output) {}

  /** Runs a script that has the functions of some files; {@code arguments} are its own. */
  static Result run(List<String> sourced, String script, String... arguments) {
    StringBuilder whole = new StringBuilder("set -eu\nhere=" + PACKAGING + "\n");
    sourced.forEach(file -> whole.append(". \"$here/").append(file).append("\"\n"));
    List<String> command = new ArrayList<>(List.of("sh", "-c", whole + script, "sh"));
    command.addAll(List.of(arguments));
    return run(command);
  }

  /** Runs a command, with nothing to read. */
  static Result run(List<String> command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      process.getOutputStream().close();
      String output = new String(process.getInputStream().readAllBytes(), UTF_8);
      return new Result(process.waitFor(), output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted while " + command + " ran", e);
    }
  }
}
