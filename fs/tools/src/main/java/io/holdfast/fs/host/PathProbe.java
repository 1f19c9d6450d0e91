package io.holdfast.fs.host;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Looks at paths that may lie on a mount that hangs. A thread in such a call cannot be ended, and
 * would keep this process from ending; so a child process looks, and is left behind when it does
 * not answer.
 */
final class PathProbe {
  private final Duration deadline;

  PathProbe(Duration deadline) {
    this.deadline = deadline;
  }

  /**
   * Looks at a path.
   *
   * @param askDaemon whether to make a FUSE daemon answer; attributes alone may come from the
   *     kernel's memory, also of a mount whose daemon is gone
   */
  Host.PathState probe(Path path, boolean askDaemon) {
    Host.PathState state =
        askDaemon ? run(List.of("stat", "-f", "-c", "directory", "--"), path) : null;
    boolean answered = state == null || state == Host.PathState.DIRECTORY;
    return answered ? run(List.of("stat", "-L", "-c", "%F", "--"), path) : state;
  }

  private Host.PathState run(List<String> command, Path path) {
    List<String> arguments = new ArrayList<>(command);
    arguments.add(path.toString());
    ProcessBuilder builder = new ProcessBuilder(arguments).redirectErrorStream(true);
    builder.environment().put("LC_ALL", "C.UTF-8");
    builder.environment().remove("LANGUAGE");
    try {
      Process child = builder.start();
      child.getOutputStream().close();
      if (deadline.isZero() || !child.waitFor(deadline.toMillis(), TimeUnit.MILLISECONDS)) {
        child.destroyForcibly();
        return Host.PathState.HUNG;
      }
      String output =
          new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      return child.exitValue() == 0 ? found(output) : failed(output);
    } catch (IOException e) {
      throw CliException.couldNot("'stat' cannot be run: install the package coreutils", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CliException.couldNot("interrupted", e);
    }
  }

  private static Host.PathState found(String type) {
    return type.equals("directory") ? Host.PathState.DIRECTORY : Host.PathState.OTHER;
  }

  /** The message ends with the C library's text of the error. */
  static Host.PathState failed(String message) {
    int colon = message.lastIndexOf(": ");
    return switch (message.substring(colon < 0 ? 0 : colon + 2)) {
      case "No such file or directory" -> Host.PathState.MISSING;
      case "Not a directory" -> Host.PathState.MISSING;
      case "Permission denied", "Operation not permitted" -> Host.PathState.DENIED;
      case "Transport endpoint is not connected", "Software caused connection abort" ->
          Host.PathState.NOT_CONNECTED;
      default -> Host.PathState.FAILED;
    };
  }
}
