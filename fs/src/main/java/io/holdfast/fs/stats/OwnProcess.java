package io.holdfast.fs.stats;

import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What this process takes of the machine: {@code process} in {@code stats.json}. Reads /proc at
 * every call; what cannot be read is missing. Stateless.
 */
public final class OwnProcess {
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final Path LIMITS = Path.of("/proc/self/limits");
  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
  private static final String DESCRIPTORS_LIMIT = "Max open files";
  private static final int KIBIBYTE = 1024;

  private OwnProcess() {}

  /** Returns the figures: bytes, seconds, numbers. */
  public static Map<String, Object> now() {
    Map<String, Object> all = new LinkedHashMap<>();
    List<String> status = lines(STATUS);
    put(all, "rss_anon_bytes", status, "RssAnon:", KIBIBYTE);
    put(all, "locked_bytes", status, "VmLck:", KIBIBYTE);
    Runtime runtime = Runtime.getRuntime();
    all.put("heap_used_bytes", runtime.totalMemory() - runtime.freeMemory());
    all.put("heap_max_bytes", runtime.maxMemory());
    all.put(
        "direct_bytes",
        ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter(pool -> pool.getName().equals("direct"))
            .mapToLong(BufferPoolMXBean::getMemoryUsed)
            .sum());
    put(all, "threads", status, "Threads:", 1);
    try (DirectoryStream<Path> open = Files.newDirectoryStream(DESCRIPTORS)) {
      long count = 0;
      for (Path each : open) {
        count += each.getNameCount() > 0 ? 1 : 0;
      }
      all.put("descriptors", count);
    } catch (IOException e) {
      // missing then
    }
    put(all, "descriptors_limit", lines(LIMITS), DESCRIPTORS_LIMIT, 1);
    ProcessHandle.current()
        .info()
        .totalCpuDuration()
        .map(Duration::toMillis)
        .ifPresent(millis -> all.put("cpu_seconds", millis / 1000.0));
    return all;
  }

  /** Takes the first number behind a name; "unlimited" is none. */
  private static void put(
      Map<String, Object> all, String key, List<String> lines, String name, long unit) {
    for (String line : lines) {
      String rest = line.startsWith(name) ? line.substring(name.length()).strip() : "";
      String number = rest.split("\\s", 2)[0];
      if (!number.isEmpty() && number.chars().allMatch(Character::isDigit)) {
        all.put(key, Long.parseLong(number) * unit);
      }
    }
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      return List.of();
    }
  }
}
