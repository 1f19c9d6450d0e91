package io.holdfast.fs.memory;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What is left of memory on the machine and in each cgroup of this process that has a limit. Reads
 * {@code /proc} and {@code /sys} at every call; what cannot be read is missing. Immutable.
 */
public final class Rooms {
  private static final int KIBIBYTE = 1024;

  private final Path root;

  /**
   * Creates a reader.
   *
   * @param root the tree that stands for {@code /}
   */
  public Rooms(Path root) {
    this.root = root;
  }

  /** Returns them as they are now, the machine first. */
  public List<Room> now() {
    List<Room> rooms = new ArrayList<>();
    List<String> machine = Cgroups.lines(root.resolve("proc/meminfo"));
    long total = Cgroups.sum(machine, "MemTotal:") * KIBIBYTE;
    long available = Cgroups.sum(machine, "MemAvailable:") * KIBIBYTE;
    if (total > 0) {
      double stalled = stalled(root.resolve("proc/pressure/memory"));
      rooms.add(new Room("machine", total, available, stalled));
    }
    for (Cgroups.Group group : Cgroups.of(root, "self")) {
      add(rooms, group);
    }
    return rooms;
  }

  private void add(List<Room> rooms, Cgroups.Group group) {
    Path directory = group.directory();
    boolean unified = group.unified();
    long limit = group.limit();
    if (unified) {
      // above it the kernel slows everybody in the group down, which is as bad as a limit
      limit = Math.min(limit, Cgroups.number(directory.resolve("memory.high")));
    }
    long used =
        Cgroups.number(directory.resolve(unified ? "memory.current" : "memory.usage_in_bytes"));
    if (limit == Long.MAX_VALUE || used == Long.MAX_VALUE) {
      return;
    }
    List<String> stat = Cgroups.lines(directory.resolve("memory.stat"));
    // what is pinned is on none of these lists
    long reclaimable =
        unified
            ? Cgroups.sum(stat, "inactive_file ", "active_file ", "slab_reclaimable ")
            : Cgroups.sum(stat, "total_inactive_file ", "total_active_file ");
    rooms.add(
        new Room(
            "cgroup " + name(directory),
            limit,
            Math.max(0, limit - used + reclaimable),
            unified ? stalled(directory.resolve("memory.pressure")) : 0));
  }

  private String name(Path directory) {
    Path top = root.resolve("sys/fs/cgroup");
    return "/" + top.relativize(directory);
  }

  /** From a line as "some avg10=0.00 avg60=0.00 avg300=0.00 total=0". */
  private static double stalled(Path file) {
    for (String line : Cgroups.lines(file)) {
      if (line.startsWith("some avg10=")) {
        return Double.parseDouble(line.substring("some avg10=".length()).split(" ", 2)[0]);
      }
    }
    return 0;
  }
}
