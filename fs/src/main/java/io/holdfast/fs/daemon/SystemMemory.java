package io.holdfast.fs.daemon;

import io.holdfast.fs.memory.Cgroups;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * How much memory there is for this process: the machine's, or less where a memory cgroup (version
 * 1 or 2) sets a limit. Reads {@code /proc} and {@code /sys} at every call. Thread-safe.
 */
public final class SystemMemory {
  private static final String NO_MEMINFO =
      "/proc/meminfo does not tell the memory: is /proc mounted?";

  private final Path root;

  private SystemMemory(Path root) {
    this.root = root;
  }

  /**
   * Returns the bytes that this process may hope for: the smaller of {@code MemTotal} and the
   * limits of its memory cgroups.
   */
  public static long detect() {
    return new SystemMemory(Path.of("/")).bytes();
  }

  /** The same for a tree that stands for {@code /}, for tests. */
  static long detect(Path root) {
    return new SystemMemory(root).bytes();
  }

  /**
   * Returns the smallest limit of a process's memory cgroups, in bytes; {@link Long#MAX_VALUE}
   * where there is none.
   *
   * @param root the tree that stands for {@code /}
   * @param process a process id, or {@code self}
   */
  public static long cgroupLimit(Path root, String process) {
    return new SystemMemory(root).limits(process);
  }

  private long bytes() {
    return Math.min(memTotal(), limits("self"));
  }

  private long limits(String process) {
    return Cgroups.of(root, process).stream()
        .mapToLong(Cgroups.Group::limit)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  private long memTotal() {
    try {
      for (String line : Files.readAllLines(root.resolve("proc/meminfo"))) {
        if (line.startsWith("MemTotal:")) {
          String kilobytes = line.substring("MemTotal:".length()).replace("kB", "").trim();
          return Long.parseLong(kilobytes) * 1024;
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException(NO_MEMINFO, e);
    }
    throw new IllegalStateException(NO_MEMINFO);
  }
}
