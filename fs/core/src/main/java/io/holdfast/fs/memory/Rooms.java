package io.holdfast.fs.memory;

import io.holdfast.fs.linux.Cgroups;
import io.holdfast.fs.linux.Procfs;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads what memory is left on the machine and in each cgroup of this process that has a limit.
 * Reads {@code /proc} and {@code /sys} at every call; leaves out a room that it cannot read.
 * Immutable.
 */
public final class Rooms {
  private final Procfs procfs;
  private final Cgroups cgroups;

  /** Creates a reader. */
  public Rooms(Procfs procfs) {
    this.procfs = procfs;
    this.cgroups = new Cgroups(procfs);
  }

  /** Returns the rooms as they are now, the machine first. */
  public List<Room> now() {
    List<Room> rooms = new ArrayList<>();
    Procfs.Fields machine = procfs.meminfo();
    long total = machine.bytes("MemTotal").orElse(0);
    long available = machine.bytes("MemAvailable").orElse(0);
    if (total > 0) {
      rooms.add(new Room("machine", total, available, procfs.memoryStalls()));
    }
    cgroups.memoryGroups(Procfs.SELF).forEach(group -> add(rooms, group));
    return rooms;
  }

  private static void add(List<Room> rooms, Cgroups.MemoryGroup group) {
    long limit = Math.min(group.limit(), group.throttle());
    long used = group.used();
    if (limit != Long.MAX_VALUE && used != Long.MAX_VALUE) {
      long available = Math.max(0, limit - used + group.reclaimable());
      rooms.add(new Room("cgroup " + group.name(), limit, available, group.stalls()));
    }
  }
}
