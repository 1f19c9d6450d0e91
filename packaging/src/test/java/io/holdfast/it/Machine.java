package io.holdfast.it;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * Changes of the whole machine, and so of every other mount: tests that use them are {@link
 * org.junit.jupiter.api.parallel.Isolated}.
 */
public final class Machine {
  private static final Path SETTINGS = Path.of("/proc/sys");

  private Machine() {}

  /**
   * Lets the kernel drop, in all file systems, what nothing holds.
   *
   * @param what 1 for pages, 2 for names and inodes, 3 for all of them
   */
  public static void dropCaches(int what) {
    write(SETTINGS.resolve("vm/drop_caches"), Integer.toString(what));
  }

  /**
   * Returns how long something may take now that may take so long while processors are idle: with n
   * times as many threads that want to run as there are processors, n times as long.
   */
  static Duration stretched(Duration whileIdle) {
    OperatingSystemMXBean machine = ManagementFactory.getOperatingSystemMXBean();
    double crowd = machine.getSystemLoadAverage() / machine.getAvailableProcessors();
    return Duration.ofMillis((long) (whileIdle.toMillis() * Math.max(1, crowd)));
  }

  /** Gives what {@code task} gives while nothing more can be mounted. */
  public static <T> T withoutMoreMounts(Callable<T> task) {
    Path limit = SETTINGS.resolve("fs/mount-max");
    String before = read(limit);
    try {
      write(limit, "1");
      return task.call();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError(e);
    } finally {
      write(limit, before);
    }
  }

  /** By one read: what a file of /proc says is not there for a second one. */
  private static String read(Path setting) {
    try (InputStream in = Files.newInputStream(setting)) {
      byte[] bytes = new byte[64];
      return new String(bytes, 0, Math.max(0, in.read(bytes)), US_ASCII);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void write(Path setting, String value) {
    try {
      Files.writeString(setting, value);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
