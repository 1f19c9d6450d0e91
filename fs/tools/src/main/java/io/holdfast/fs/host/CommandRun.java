package io.holdfast.fs.host;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.NamedThreads;
import java.io.IOException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jline.utils.Signals;

/**
 * A run of a user's command, and the processes that it started. The command has this process's
 * input and outputs. Immutable.
 *
 * @param exit its exit code; 128 and the signal's number if a signal ended it
 * @param pids it, and all processes below it that were seen
 * @param seconds how long it took
 * @param interrupted whether this process was told to end meanwhile
 */
public record CommandRun(int exit, Set<Long> pids, double seconds, boolean interrupted) {
  private static final int ENOENT = 2;
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
  public static CommandRun of(List<String> words, boolean toErrors, boolean foreground) {
    ProcessBuilder builder = new ProcessBuilder(words).inheritIO();
    Caller caller = Caller.of(builder.environment());
    if (caller != null) {
      caller.restore(builder.environment());
    }
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

  private static Process start(ProcessBuilder builder, String command) {
    try {
      return builder.start();
    } catch (IOException e) {
      boolean found = !String.valueOf(e.getMessage()).contains("error=2,");
      CliException failure = failure(command, found ? 0 : ENOENT);
      failure.initCause(e);
      throw failure;
    }
  }

  /** Returns what to say of a command that cannot be started, with the exit code of shells. */
  public static CliException failure(String command, int errno) {
    return errno == ENOENT
        ? new CliException(
            NOT_FOUND, "'" + command + "' is no command: check its name, or give its path")
        : new CliException(
            NOT_EXECUTABLE,
            "'" + command + "' cannot be run: make it executable, or name its interpreter");
  }

  private static void copy(Process process) {
    try {
      process.getInputStream().transferTo(System.err);
      System.err.flush();
    } catch (IOException e) {
      // the process, or whoever reads the error output, has ended
    }
  }

  /**
   * Passes the signals that end this process on to another, and goes on. A terminal sends Ctrl-C to
   * both, so that the first SIGINT is not passed on where this process is in a terminal's
   * foreground. Close it to have signals end this process again. Thread-safe.
   */
  private static final class PassedSignals implements AutoCloseable {
    private static final Map<String, Integer> SIGNALS = Map.of("HUP", 1, "INT", 2, "TERM", 15);

    private final Map<String, Object> before = new LinkedHashMap<>();
    private final AtomicBoolean interrupted = new AtomicBoolean();
    private final boolean foreground;

    /**
     * Begins.
     *
     * @param to the process that gets them
     * @param foreground whether a terminal sends its Ctrl-C to it as well
     */
    PassedSignals(Process to, boolean foreground) {
      this.foreground = foreground;
      SIGNALS.forEach(
          (name, number) -> before.put(name, Signals.register(name, () -> pass(to, name, number))));
    }

    private void pass(Process to, String name, int number) {
      boolean first = !interrupted.getAndSet(true);
      if (to.isAlive() && !(name.equals("INT") && foreground && first)) {
        LIBC.kill((int) to.pid(), number);
      }
    }

    /** Tells whether there was one. */
    boolean isInterrupted() {
      return interrupted.get();
    }

    @Override
    public void close() {
      before.forEach(Signals::unregister);
    }
  }
}
