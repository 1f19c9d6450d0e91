package io.holdfast.fs.stats;

import io.holdfast.fs.figures.DaemonFigures;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/**
 * What this process takes of the machine: {@code process} in {@code stats.json}. Reads /proc at
 * every call; what cannot be read is empty. Stateless.
 */
public final class OwnProcess {
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final Path LIMITS = Path.of("/proc/self/limits");
  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
  private static final String DESCRIPTORS_LIMIT = "Max open files";
  private static final int KIBIBYTE = 1024;

  private OwnProcess() {}

  /**
   * Returns the figures of this moment.
   *
   * @param memoryLimit the ceiling for everything together, in bytes
   */
  public static DaemonFigures figures(long memoryLimit) {
    List<String> status = lines(STATUS);
    Runtime runtime = Runtime.getRuntime();
    return new DaemonFigures(
        memoryLimit,
        first(status, "RssAnon:", KIBIBYTE),
        first(status, "VmLck:", KIBIBYTE),
        runtime.totalMemory() - runtime.freeMemory(),
        runtime.maxMemory(),
        ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter(pool -> pool.getName().equals("direct"))
            .mapToLong(BufferPoolMXBean::getMemoryUsed)
            .sum(),
        first(status, "Threads:", 1),
        descriptors(),
        first(lines(LIMITS), DESCRIPTORS_LIMIT, 1),
        ProcessHandle.current().info().totalCpuDuration().stream()
            .mapToDouble(time -> time.toMillis() / 1000.0)
            .findFirst());
  }

  private static OptionalLong descriptors() {
    try (DirectoryStream<Path> open = Files.newDirectoryStream(DESCRIPTORS)) {
      long count = 0;
      for (Path each : open) {
        count += each.getNameCount() > 0 ? 1 : 0;
      }
      return OptionalLong.of(count);
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }

  /** Returns the first number behind a name; "unlimited" is none. */
  private static OptionalLong first(List<String> lines, String name, long unit) {
    for (String line : lines) {
      String rest = line.startsWith(name) ? line.substring(name.length()).strip() : "";
      String number = rest.split("\\s", 2)[0];
      if (!number.isEmpty() && number.chars().allMatch(Character::isDigit)) {
        return OptionalLong.of(Long.parseLong(number) * unit);
      }
    }
    return OptionalLong.empty();
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      return List.of();
    }
  }
}
