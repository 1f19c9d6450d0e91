package io.holdfast.fs.daemon;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * How much memory there is for this process: the machine's, or less where a memory cgroup (version
 * 1 or 2) sets a limit. Reads {@code /proc} and {@code /sys} at every call. Thread-safe.
 */
public final class SystemMemory {
  /** Version 1 shows "no limit" as a number near 2^63. */
  private static final long NO_LIMIT = Long.MAX_VALUE / 2;

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
    long bytes = Long.MAX_VALUE;
    for (String line : lines("proc/" + process + "/cgroup")) {
      // 4:memory:/a/b (version 1) or 0::/a/b (version 2)
      String[] fields = line.split(":", 3);
      if (fields.length < 3) {
        continue;
      }
      if (fields[0].equals("0") && fields[1].isEmpty()) {
        bytes = Math.min(bytes, limit("sys/fs/cgroup", fields[2], "memory.max"));
        bytes = Math.min(bytes, limit("sys/fs/cgroup/unified", fields[2], "memory.max"));
      } else if (List.of(fields[1].split(",", -1)).contains("memory")) {
        bytes = Math.min(bytes, limit("sys/fs/cgroup/memory", fields[2], "memory.limit_in_bytes"));
      }
    }
    return bytes;
  }

  /**
   * Returns the smallest limit from a cgroup up to the root of its hierarchy. In a container the
   * path is the host's, while the hierarchy's root is the container's own group, so missing
   * directories are passed over.
   */
  private long limit(String hierarchy, String group, String file) {
    long limit = Long.MAX_VALUE;
    Path top = root.resolve(hierarchy);
    Path directory = top.resolve(group.substring(1)).normalize();
    while (directory != null && directory.startsWith(top)) {
      limit = Math.min(limit, number(directory.resolve(file)));
      directory = directory.getParent();
    }
    return limit;
  }

  private long number(Path file) {
    List<String> lines = lines(file);
    if (lines.isEmpty() || lines.get(0).isBlank() || lines.get(0).startsWith("max")) {
      return Long.MAX_VALUE;
    }
    long number = Long.parseLong(lines.get(0).trim());
    return number >= NO_LIMIT || number <= 0 ? Long.MAX_VALUE : number;
  }

  private long memTotal() {
    for (String line : lines("proc/meminfo")) {
      if (line.startsWith("MemTotal:")) {
        String kilobytes = line.substring("MemTotal:".length()).replace("kB", "").trim();
        return Long.parseLong(kilobytes) * 1024;
      }
    }
    throw new IllegalStateException("/proc/meminfo does not tell the memory: is /proc mounted?");
  }

  private List<String> lines(String file) {
    return lines(root.resolve(file));
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      // Which of the files exist depends on the cgroup version; an absent one sets no limit.
      return List.of();
    }
  }
}
