package io.holdfast.fs.doctor;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Runs commands that may hang, for some time. One that does not end is killed and left behind: what
 * waits in the kernel for a filesystem that does not answer cannot be ended, but it is not this
 * process that waits. Stateless.
 */
public final class BoundedCommand {
  private BoundedCommand() {}

  /**
   * What came out.
   *
   * @param exit the exit code
   * @param all the output and the error output
   * @param full whether there was as much of it as is kept, or more
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
   * @param deadline for all of it
   * @param most bytes of output; what is beyond is not kept
   * @param command the words
   * @return nothing, when it did not end in time
   * @throws IOException when it cannot be started
   */
  public static Optional<Output> run(Duration deadline, int most, List<String> command)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("LC_ALL", "C.UTF-8");
    long end = System.nanoTime() + deadline.toNanos();
    Process child = builder.start();
    child.getOutputStream().close();
    ByteArrayOutputStream kept = new ByteArrayOutputStream();
    Thread reader = new Thread(() -> read(child.getInputStream(), most, kept), "output");
    reader.setDaemon(true);
    reader.start();
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

  private static void read(InputStream in, int most, ByteArrayOutputStream kept) {
    byte[] buffer = new byte[1 << 14];
    try {
      for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
        synchronized (kept) {
          kept.write(buffer, 0, Math.min(length, most - kept.size()));
        }
      }
    } catch (IOException e) {
      // The child was given up.
    }
  }
}
