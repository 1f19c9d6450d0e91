package io.holdfast.fs.doctor;

import io.holdfast.fs.linux.NamedThreads;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Runs commands that may hang, for a bounded time. A command that does not end is killed and left
 * behind: a process that waits in the kernel for a silent filesystem cannot be ended, but this
 * process does not wait for it. Stateless.
 */
public final class BoundedCommand {
  private BoundedCommand() {}

  /**
   * The result of a command.
   *
   * @param exit the exit code
   * @param all the output and the error output
   * @param full whether the output was as long as the bound, or longer
   */
  public record Output(int exit, String all, boolean full) {
    /** Returns the output without blanks around it. */
    public String text() {
      return all.strip();
    }
  }

  /**
   * Runs a command.
   *
   * @param deadline the time for the whole command
   * @param most the most bytes of output that are kept
   * @param command the words
   * @return nothing if the command did not end in time
   * @throws IOException if it cannot be started
   */
  public static Optional<Output> run(Duration deadline, int most, List<String> command)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("LC_ALL", "C.UTF-8");
    long end = System.nanoTime() + deadline.toNanos();
    Process child = builder.start();
    child.getOutputStream().close();
    ByteArrayOutputStream kept = new ByteArrayOutputStream();
    Thread reader = NamedThreads.start("output", () -> read(child, most, kept));
    boolean ended = child.waitFor(end - System.nanoTime(), TimeUnit.NANOSECONDS);
    if (ended) {
      reader.join(Math.max(1, (end - System.nanoTime()) / 1_000_000));
      ended = !reader.isAlive();
    }
    if (!ended) {
      child.destroyForcibly();
      return Optional.empty();
    }
    synchronized (kept) {
      String all = kept.toString(StandardCharsets.UTF_8);
      return Optional.of(new Output(child.exitValue(), all, kept.size() >= most));
    }
  }

  /**
   * Reads to the end. When the child ends, the virtual machine empties and closes the pipe, and the
   * same stream returns the rest from memory. A read in this moment fails, and the next one goes
   * on.
   */
  private static void read(Process child, int most, ByteArrayOutputStream kept) {
    InputStream in = child.getInputStream();
    byte[] buffer = new byte[1 << 14];
    boolean again = true;
    int length = 0;
    while (length >= 0) {
      try {
        length = in.read(buffer);
      } catch (IOException e) {
        length = again ? 0 : -1; // failed twice: the child was given up
        again = false;
      }
      synchronized (kept) {
        kept.write(buffer, 0, Math.max(0, Math.min(length, most - kept.size())));
      }
    }
  }
}
