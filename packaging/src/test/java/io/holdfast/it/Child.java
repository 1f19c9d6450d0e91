package io.holdfast.it;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.holdfast.posix.Posix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process of a test, its output kept in files. */
public final class Child {
  private static final Duration FREEZE_DEADLINE = Duration.ofSeconds(60);

  private final Process process;
  private final List<String> command;
  private final Path out;
  private final Path err;
  private final long started = System.nanoTime();

  public Child(Process process, List<String> command, Path out, Path err) {
    this.process = process;
    this.command = command;
    this.out = out;
    this.err = err;
  }

  /** How a process ended. */
  public record Result(List<String> command, int exit, String out, String err, Duration took) {
    /** The result itself, an error when the process did not end with 0. */
    public Result mustSucceed() {
      if (exit != 0) {
        throw new AssertionError("failed: " + this);
      }
      return this;
    }
  }

  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  public String out() {
    return text(out);
  }

  public String err() {
    return text(err);
  }

  /** Writes a line to the process's standard input. */
  public void tell(String line) {
    try {
      process.getOutputStream().write((line + "\n").getBytes(UTF_8));
      process.getOutputStream().flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends the process's standard input. */
  public void closeInput() {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      // It has ended already.
    }
  }

  /** Waits until the output has {@code count} whole lines and gives the last of these. */
  public String awaitLine(int count, Duration deadline) {
    Await.until(
        deadline, "line " + count + " from " + this, () -> lines().size() >= count || !isAlive());
    if (lines().size() < count) {
      throw new AssertionError("ended before line " + count + ": " + this);
    }
    return lines().get(count - 1);
  }

  private List<String> lines() {
    String text = out();
    return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
  }

  public void signal(int signal) {
    if (process.isAlive()) {
      Posix.kill(process.pid(), signal);
    }
  }

  /**
   * Stops the process and waits until no thread of it runs any more. One that is in a call goes on
   * until the call ends.
   */
  public void freeze() {
    signal(Posix.SIGSTOP);
    Await.until(
        FREEZE_DEADLINE,
        this + " stopped or ended",
        () ->
            !isAlive()
                || ProcessTable.threadStates(pid()).stream().allMatch(state -> state == 'T'));
  }

  /** Waits for the end; an error when it does not come. */
  public Result await(Duration deadline) {
    if (!endsWithin(deadline)) {
      throw new AssertionError(
          "still running after %d ms, state %s: %s"
              .formatted(deadline.toMillis(), ProcessTable.state(pid()), this));
    }
    return new Result(
        command, process.exitValue(), out(), err(), Duration.ofNanos(System.nanoTime() - started));
  }

  public boolean endsWithin(Duration deadline) {
    try {
      return process.waitFor(deadline.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for " + this, e);
    }
  }

  /** Ends the process, whatever it is doing. */
  public void kill() {
    signal(Posix.SIGKILL);
    signal(Posix.SIGCONT);
  }

  @Override
  public String toString() {
    return "%s (pid %d)\nout: %s\nerr: %s".formatted(command, pid(), out(), err());
  }

  private static String text(Path file) {
    try {
      return new String(Files.readAllBytes(file), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
