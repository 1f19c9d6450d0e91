package io.holdfast.fs.start;

import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.host.OwnProcess;
import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.linux.NamedThreads;
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
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Starts a daemon as a child process and waits for its {@link Report}. Whatever goes wrong, also an
 * interruption of this process, ends the child and cleans up after it. For one start; {@link
 * #abort()} may be called from another thread.
 */
public final class BackgroundStart {
  private static final Duration END_DEADLINE = Duration.ofSeconds(10);

  /** What the reader of the pipe puts behind the last line. */
  private static final String END = "\n";

  /** Of "ready" and an abort, whichever comes first decides. */
  private enum State {
    WAITING,
    READY,
    ABORTED
  }

  private final List<String> command;
  private final Path log;
  private final Duration deadline;
  private final Runnable cleanUp;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

  /** A little early: the kernel stamps files by a coarser clock. */
  private final long startedAt = System.currentTimeMillis() - 20;

  /** Guarded by this. */
  private @Nullable Process child;

  private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);
  private volatile String lastError = "";

  /** Guarded by this. */
  private boolean ended;

  /**
   * Prepares a start.
   *
   * @param command the daemon's command
   * @param log where it logs
   * @param deadline until when it must have reported
   * @param cleanUp takes away what a killed daemon may have left; called after its end
   */
  public BackgroundStart(List<String> command, Path log, Duration deadline, Runnable cleanUp) {
    this.command = command;
    this.log = log;
    this.deadline = deadline;
    this.cleanUp = cleanUp;
  }

  /**
   * Starts the daemon; ends it if this process is told to end before it is ready.
   *
   * @return the lines of its plan, when it is ready
   * @throws CliException when it is not
   */
  public List<String> run(OwnProcess process) {
    Thread abort = NamedThreads.named("abort-start", this::abort);
    process.atExit(abort);
    List<String> plan = run();
    process.forgetAtExit(abort);
    return plan;
  }

  /**
   * Starts the daemon.
   *
   * @return the lines of its plan, when it is ready
   * @throws CliException when it is not
   */
  List<String> run() {
    Process process = startUnlessAborted();
    if (process == null) {
      throw awaitEnd();
    }
    read(process.getInputStream(), lines::add, "report");
    read(process.getErrorStream(), this::keepError, "errors");
    List<String> plan = new ArrayList<>();
    String lastWord = lastWord(plan);
    boolean ready = Report.READY.equals(lastWord);
    if (ready && state.compareAndSet(State.WAITING, State.READY)) {
      return plan;
    }
    end(process);
    if (state.get() == State.ABORTED) {
      throw awaitEnd();
    }
    if (lastWord == null) {
      throw failure("the daemon was not ready within " + deadline.toSeconds() + " s", process);
    }
    throw lastWord.equals(END)
        ? failure("the daemon died at its start", process)
        : reported(lastWord.substring(Report.ERROR.length()));
  }

  /** Collects the plan; returns the line that decides, or null when none comes in time. */
  private @Nullable String lastWord(List<String> plan) {
    long end = System.nanoTime() + deadline.toNanos();
    String line = next(end);
    while (line != null && !isLast(line)) {
      if (line.startsWith(Report.PLAN)) {
        plan.add(line.substring(Report.PLAN.length()));
      }
      line = next(end);
    }
    return line;
  }

  private static boolean isLast(String line) {
    return line.equals(END) || line.equals(Report.READY) || line.startsWith(Report.ERROR);
  }

  /**
   * Ends the child and cleans up; for when this process is told to end while {@link #run()} waits.
   */
  void abort() {
    if (state.compareAndSet(State.WAITING, State.ABORTED)) {
      Process process = child();
      if (process != null) {
        end(process);
      }
    }
  }

  private synchronized @Nullable Process child() {
    return child;
  }

  /** One step for {@link #abort()}: it finds the child, or there will be none. */
  private synchronized @Nullable Process startUnlessAborted() {
    if (state.get() != State.ABORTED) {
      child = start();
    }
    return child;
  }

  /**
   * In a session of its own: what the user types at the terminal, its end and a signal to the
   * caller's group are not meant for the daemon. The child leads no group, so that setsid(1)
   * becomes the command and keeps the process id. Java closes every descriptor but the standard
   * ones.
   */
  private Process start() {
    List<String> words = new ArrayList<>(List.of("setsid"));
    words.addAll(command);
    try {
      return new ProcessBuilder(words)
          .directory(Path.of("/").toFile())
          .redirectInput(Path.of("/dev/null").toFile())
          .start();
    } catch (IOException e) {
      throw CliException.couldNot("the daemon cannot be started: " + e.getMessage(), e);
    }
  }

  private @Nullable String next(long end) {
    try {
      return lines.poll(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    }
  }

  /** Waits while another thread ends this process, which has nothing more to say. */
  private static CliException awaitEnd() {
    try {
      Thread.sleep(Long.MAX_VALUE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return CliException.couldNot("interrupted");
  }

  /** Ends the child, at first so that it can clean up itself. */
  private synchronized void end(Process process) {
    if (ended) {
      return;
    }
    ended = true;
    process.destroy();
    if (!hasEnded(process)) {
      process.destroyForcibly();
      hasEnded(process);
    }
    cleanUp.run();
  }

  private static boolean hasEnded(Process process) {
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

  /** Takes away what the daemon of a mount has left whose start failed. */
  public static void cleanUp(Host host, String name, Path at) {
    try {
      boolean dead =
          host.mounts().at(at).filter(MountTable.Mount::isHoldfast).isPresent()
              && host.probe(at) == Host.PathState.NOT_CONNECTED;
      if (dead) {
        host.detach(at);
      }
      host.control().removeLeftovers(name);
    } catch (IOException e) {
      throw CliException.couldNot(
          "the failed start left a mount at '%s': take it away with 'holdfast umount %s'"
              .formatted(at, at),
          e);
    }
  }

  private static void read(InputStream stream, Consumer<String> consumer, String name) {
    NamedThreads.start(
        name,
        () -> {
          try (BufferedReader in =
              new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            in.lines().forEach(consumer);
          } catch (IOException | UncheckedIOException e) {
            // The child's end closes the pipe.
          }
          consumer.accept(END);
        });
  }
}
