package io.holdfast.fs.memory;

import io.holdfast.fs.settings.Group;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The memory cgroups of a process, of version 1 or 2, and their files. Reads at every call.
 * Stateless.
 */
public final class Cgroups {
  /** Version 1 shows "no limit" as a number near 2^63. */
  private static final long NO_LIMIT = Long.MAX_VALUE / 2;

  private Cgroups() {}

  /**
   * A group that memory of the process is charged to.
   *
   * @param directory its files
   * @param unified whether it is of version 2
   */
  public record Group(Path directory, boolean unified) {
    /** Returns the limit that it must not exceed, in bytes; {@link Long#MAX_VALUE} for none. */
    public long limit() {
      return number(directory.resolve(unified ? "memory.max" : "memory.limit_in_bytes"));
    }
  }

  /**
   * Returns the groups of a process, from its own up to the root of each hierarchy. In a container
   * the path is the host's, while the hierarchy's root is the container's own group, so there may
   * be directories that are missing.
   *
   * @param root the tree that stands for {@code /}
   * @param process a process id, or {@code self}
   */
  public static List<Group> of(Path root, String process) {
    List<Group> groups = new ArrayList<>();
    for (String line : lines(root.resolve("proc/" + process + "/cgroup"))) {
      // 4:memory:/a/b (version 1) or 0::/a/b (version 2)
      String[] fields = line.split(":", 3);
      if (fields.length < 3) {
        continue;
      }
      if (fields[0].equals("0") && fields[1].isEmpty()) {
        add(groups, root.resolve("sys/fs/cgroup"), fields[2], true);
        add(groups, root.resolve("sys/fs/cgroup/unified"), fields[2], true);
      } else if (List.of(fields[1].split(",", -1)).contains("memory")) {
        add(groups, root.resolve("sys/fs/cgroup/memory"), fields[2], false);
      }
    }
    return groups;
  }

  private static void add(List<Group> groups, Path top, String name, boolean unified) {
    Path directory = top.resolve(name.substring(1)).normalize();
    while (directory != null && directory.startsWith(top)) {
      groups.add(new Group(directory, unified));
      directory = directory.getParent();
    }
  }

  /** Returns the number in a file; {@link Long#MAX_VALUE} where there is none, or no limit. */
  static long number(Path file) {
    List<String> lines = lines(file);
    if (lines.isEmpty() || lines.get(0).isBlank() || lines.get(0).startsWith("max")) {
      return Long.MAX_VALUE;
    }
    long number = Long.parseLong(lines.get(0).trim());
    return number >= NO_LIMIT || number <= 0 ? Long.MAX_VALUE : number;
  }

  /** Returns the lines of a file; none where it is not there: which are depends on the version. */
  static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      return List.of();
    }
  }

  /**
   * Returns the sum of the first numbers behind names at the beginning of lines; 0 for those that
   * are missing.
   */
  static long sum(List<String> lines, String... names) {
    long sum = 0;
    for (String line : lines) {
      for (String name : names) {
        if (line.startsWith(name) && line.length() > name.length()) {
          String rest = line.substring(name.length()).strip();
          int end = 0;
          while (end < rest.length() && Character.isDigit(rest.charAt(end))) {
            end++;
          }
          sum += end == 0 ? 0 : Long.parseLong(rest.substring(0, end));
        }
      }
    }
    return sum;
  }
}
