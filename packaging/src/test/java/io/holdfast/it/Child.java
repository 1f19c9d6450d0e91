package io.holdfast.it;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.holdfast.posix.Posix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CodingErrorAction;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process of a test, its output kept in files. */
final class Child {
  private final Process process;
  private final List<String> command;
  private final Path out;
  private final Path err;
  private final long started = System.nanoTime();

  Child(Process process, List<String> command, Path out, Path err) {
    this.process = process;
    this.command = command;
    this.out = out;
    this.err = err;
  }

  /** How a process ended. */
  record Result(List<String> command, int exit, String out, String err, Duration took) {
    /** The result itself, an error when the process did not end with 0. */
    Result mustSucceed() {
      if (exit != 0) {
        throw new AssertionError("failed: " + this);
      }
      return this;
    }
  }

  long pid() {
    return process.pid();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  String out() {
    return text(out);
  }

  String err() {
    return text(err);
  }

  /** Writes a line to the process's standard input. */
  void tell(String line) {
    try {
      process.getOutputStream().write((line + "\n").getBytes(UTF_8));
      process.getOutputStream().flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until the output has {@code count} whole lines and gives the last of these. */
  String awaitLine(int count, Duration deadline) {
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

  void signal(int signal) {
    if (process.isAlive()) {
      Posix.kill(process.pid(), signal);
    }
  }

  /** Waits for the end; an error when it does not come. */
  Result await(Duration deadline) {
    if (!endsWithin(deadline)) {
      throw new AssertionError(
          "still running after %d ms, state %s: %s"
              .formatted(deadline.toMillis(), ProcessTable.state(pid()), this));
    }
    return new Result(
        command, process.exitValue(), out(), err(), Duration.ofNanos(System.nanoTime() - started));
  }

  boolean endsWithin(Duration deadline) {
    try {
      return process.waitFor(deadline.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for " + this, e);
    }
  }

  /** Ends the process, whatever it is doing. */
  void kill() {
    signal(Posix.SIGKILL);
    signal(Posix.SIGCONT);
  }

  @Override
  public String toString() {
    return "%s (pid %d)\nout: %s\nerr: %s".formatted(command, pid(), out(), err());
  }

  private static String text(Path file) {
    try {
      return UTF_8
          .newDecoder()
          .onMalformedInput(CodingErrorAction.REPLACE)
          .onUnmappableCharacter(CodingErrorAction.REPLACE)
          .decode(ByteBuffer.wrap(Files.readAllBytes(file)))
          .toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
