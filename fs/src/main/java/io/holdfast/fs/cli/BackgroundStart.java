package io.holdfast.fs.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Starts a daemon as a child process and waits for its {@link Report}. Whatever goes wrong, also an
 * interruption of this process, ends the child and cleans up after it. For one start; {@link
 * #abort()} may be called from another thread.
 */
final class BackgroundStart {
  private static final Duration END_DEADLINE = Duration.ofSeconds(10);

  /** What the reader of the pipe puts behind the last line. */
  private static final String END = "\n";

  private final List<String> command;
  private final Path log;
  private final Duration deadline;
  private final Runnable cleanUp;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private final long startedAt = System.currentTimeMillis();
  private volatile @Nullable Process child;
  private volatile boolean aborted;
  private volatile String lastError = "";

  /**
   * Prepares a start.
   *
   * @param command the daemon's command
   * @param log where it logs
   * @param deadline until when it must have reported
   * @param cleanUp takes away what a killed daemon may have left; called after its end
   */
  BackgroundStart(List<String> command, Path log, Duration deadline, Runnable cleanUp) {
    this.command = command;
    this.log = log;
    this.deadline = deadline;
    this.cleanUp = cleanUp;
  }

  /**
   * Starts the daemon.
   *
   * @return the lines of its plan, when it is ready
   * @throws CliException when it is not
   */
  List<String> run() {
    Process process = start();
    child = process;
    read(process.getInputStream(), lines::add, "report");
    read(process.getErrorStream(), this::keepError, "errors");
    List<String> plan = new ArrayList<>();
    long end = System.nanoTime() + deadline.toNanos();
    while (true) {
      String line = next(end);
      if (line == null) {
        end(process);
        throw failure("the daemon was not ready within " + deadline.toSeconds() + " s", process);
      }
      if (line.equals(END)) {
        end(process);
        throw failure("the daemon died at its start", process);
      }
      if (line.equals(Report.READY)) {
        return plan;
      }
      if (line.startsWith(Report.PLAN)) {
        plan.add(line.substring(Report.PLAN.length()));
      } else if (line.startsWith(Report.ERROR)) {
        end(process);
        throw reported(line.substring(Report.ERROR.length()));
      }
    }
  }

  /**
   * Ends the child and cleans up; for when this process is told to end while {@link #run()} waits.
   */
  void abort() {
    aborted = true;
    Process process = child;
    if (process != null) {
      end(process);
    }
  }

  private Process start() {
    try {
      return new ProcessBuilder(command)
          .directory(Path.of("/").toFile())
          .redirectInput(Path.of("/dev/null").toFile())
          .start();
    } catch (IOException e) {
      throw CliException.couldNot("the daemon cannot be started: " + e.getMessage(), e);
    }
  }

  private @Nullable String next(long end) {
    try {
      String line = lines.poll(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
      if (aborted) {
        // This process is ending, and has nothing more to say.
        Thread.sleep(Long.MAX_VALUE);
      }
      return line;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    }
  }

  /** Ends the child, at first so that it can clean up itself. */
  private synchronized void end(Process process) {
    process.destroy();
    if (!ended(process)) {
      process.destroyForcibly();
      ended(process);
    }
    cleanUp.run();
  }

  private static boolean ended(Process process) {
    try {
      return process.waitFor(END_DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private CliException failure(String what, Process process) {
    String code = process.isAlive() ? "" : " (exit code " + process.exitValue() + ")";
    Optional<String> lastLogged = LogPath.lastLine(log, startedAt);
    String said = lastLogged.orElse(lastError);
    return CliException.couldNot(
        what
            + code
            + (said.isEmpty() ? "" : ": it said '" + said + "'")
            + (Files.exists(log) ? ": see " + log : ": try --foreground"));
  }

  private static CliException reported(String error) {
    int blank = error.indexOf(' ');
    try {
      return new CliException(
          Integer.parseInt(error.substring(0, blank)), error.substring(blank + 1));
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      return CliException.couldNot(error);
    }
  }

  private void keepError(String line) {
    if (!line.isBlank() && !line.equals(END)) {
      lastError = line.strip();
    }
  }

  private static void read(InputStream stream, Consumer<String> consumer, String name) {
    Thread reader =
        new Thread(
            () -> {
              try (BufferedReader in =
                  new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                in.lines().forEach(consumer);
              } catch (IOException | UncheckedIOException e) {
                // The child's end closes the pipe.
              }
              consumer.accept(END);
            },
            name);
    reader.setDaemon(true);
    reader.start();
  }
}
