package io.holdfast.fs.cli;

import io.holdfast.fs.linux.NamedThreads;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A run of a user's command, and the processes that it started. The command has this process's
 * input and outputs. Immutable.
 *
 * @param exit its exit code; 128 and the signal's number if a signal ended it
 * @param pids it, and all processes below it that were seen
 * @param seconds how long it took
 * @param interrupted whether this process was told to end meanwhile
 */
record CommandRun(int exit, Set<Long> pids, double seconds, boolean interrupted) {
  /** What the launcher found of the variables that it changes: NAME=VALUE in lines. */
  private static final String CALLER = "HOLDFAST_CALLER";

  private static final Set<String> CHANGED =
      Set.of(
          "LC_ALL",
          "MALLOC_ARENA_MAX",
          "MALLOC_TRIM_THRESHOLD_",
          "MALLOC_MMAP_THRESHOLD_",
          "MALLOC_TOP_PAD_");

  private static final int NOT_FOUND = 127;
  private static final int NOT_EXECUTABLE = 126;
  private static final long LOOK_MILLIS = 100;
  private static final long LAST_OUTPUT_MILLIS = 1000;

  /**
   * Runs a command to its end.
   *
   * @param toErrors whether its output goes to the error output
   * @param foreground whether a terminal sends its Ctrl-C to both
   * @throws CliException if it cannot be started, with the exit code that shells have for that
   */
  static CommandRun of(List<String> words, boolean toErrors, boolean foreground) {
    ProcessBuilder builder = new ProcessBuilder(words).inheritIO();
    restore(builder.environment());
    if (toErrors) {
      builder.redirectOutput(ProcessBuilder.Redirect.PIPE);
    }
    long begin = System.nanoTime();
    Process process = start(builder, words.get(0));
    Set<Long> pids = new HashSet<>(Set.of(process.pid()));
    try (PassedSignals signals = new PassedSignals(process, foreground)) {
      Thread copy = NamedThreads.named("output", () -> copy(process));
      if (toErrors) {
        copy.setDaemon(true);
        copy.start();
      }
      while (!process.waitFor(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
        process.descendants().forEach(each -> pids.add(each.pid()));
      }
      copy.join(LAST_OUTPUT_MILLIS);
      double seconds = (System.nanoTime() - begin) / 1e9;
      return new CommandRun(
          process.exitValue(), Set.copyOf(pids), seconds, signals.isInterrupted());
    } catch (InterruptedException e) {
      process.destroy();
      Thread.currentThread().interrupt();
      throw CliException.couldNot("interrupted", e);
    }
  }

  /** Undoes what the launcher has changed for this program. */
  static void restore(Map<String, String> environment) {
    String caller = environment.remove(CALLER);
    if (caller == null) {
      return;
    }
    CHANGED.forEach(environment::remove);
    for (String line : caller.split("\n", -1)) {
      String[] pair = line.split("=", 2);
      if (pair.length == 2 && CHANGED.contains(pair[0])) {
        environment.put(pair[0], pair[1]);
      }
    }
  }

  private static Process start(ProcessBuilder builder, String command) {
    try {
      return builder.start();
    } catch (IOException e) {
      boolean found = !String.valueOf(e.getMessage()).contains("error=2,");
      CliException failure =
          new CliException(
              found ? NOT_EXECUTABLE : NOT_FOUND,
              "'"
                  + command
                  + (found
                      ? "' cannot be run: make it executable, or name its interpreter"
                      : "' is no command: check its name, or give its path"));
      failure.initCause(e);
      throw failure;
    }
  }

  private static void copy(Process process) {
    try {
      process.getInputStream().transferTo(System.err);
      System.err.flush();
    } catch (IOException e) {
      // the process, or whoever reads the error output, has ended
    }
  }
}
