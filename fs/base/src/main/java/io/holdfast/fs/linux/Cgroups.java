package io.holdfast.fs.linux;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Reads which control groups a process is in and what its memory groups allow it. Knows version 1,
 * version 2, and both at once ("hybrid", where the memory controller is in either). Keeps nothing:
 * each call reads again. A group that cannot be read sets no limit. Immutable and thread-safe.
 *
 * <p>In a container the hierarchy's root is mostly the container's own group, while a process's
 * path may be the one that the host sees. Directories on that path are then missing, and the root
 * counts.
 */
public final class Cgroups {
  /** The name of version 2's one hierarchy, which has all controllers that version 1 has not. */
  public static final String UNIFIED = "";

  private static final String MEMORY = "memory";

  /** Version 1 shows "no limit" as a number near 2^63. */
  private static final long NO_LIMIT = Long.MAX_VALUE / 2;

  private final Procfs procfs;
  private final Path top;

  /** Creates a reader of that {@code /proc}. */
  public Cgroups(Procfs procfs) {
    this.procfs = procfs;
    this.top = procfs.root().resolve("sys/fs/cgroup");
  }

  /**
   * A process's group in one hierarchy.
   *
   * @param controllers those of the hierarchy; {@link #UNIFIED} alone with version 2
   * @param path its name, from the hierarchy's root
   */
  public record Membership(List<String> controllers, String path) {}

  /** Returns the groups of a process; none if it is gone. */
  public List<Membership> memberships(String process) {
    List<Membership> memberships = new ArrayList<>();
    // only a newline ends a line: a group may have any other character in its name
    for (String line : procfs.text(procfs.path(process).resolve("cgroup")).split("\n", -1)) {
      // 4:cpuset,memory:/a/b (version 1) or 0::/a/b (version 2)
      String[] fields = line.split(":", 3);
      if (fields.length == 3 && fields[2].startsWith("/")) {
        memberships.add(new Membership(List.of(fields[1].split(",", -1)), fields[2]));
      }
    }
    return memberships;
  }

  /** Returns the path in a controller's hierarchy. */
  public static Optional<String> path(List<Membership> memberships, String controller) {
    return memberships.stream()
        .filter(membership -> membership.controllers().contains(controller))
        .map(Membership::path)
        .findFirst();
  }

  /** Returns the path of the group that memory of a process is charged to. */
  public Optional<String> memoryPath(String process) {
    List<Membership> memberships = memberships(process);
    return path(memberships, MEMORY).or(() -> path(memberships, UNIFIED));
  }

  /**
   * Returns the groups that memory of a process is charged to, from its own up to the root of the
   * hierarchy, as far as this process can see them. Returns none for a process outside of this
   * cgroup namespace.
   */
  public List<MemoryGroup> memoryGroups(String process) {
    List<MemoryGroup> groups = new ArrayList<>();
    List<Membership> memberships = memberships(process);
    Optional<String> ofVersion1 = path(memberships, MEMORY);
    if (ofVersion1.isPresent()) {
      add(groups, top.resolve(MEMORY), ofVersion1.get(), false);
      return groups;
    }
    path(memberships, UNIFIED)
        .ifPresent(
            path -> {
              add(groups, top, path, true);
              add(groups, top.resolve("unified"), path, true); // version 1 has its top here
            });
    return groups;
  }

  private void add(List<MemoryGroup> groups, Path hierarchy, String name, boolean unified) {
    Path directory = hierarchy.resolve(name.substring(1)).normalize();
    while (directory != null && directory.startsWith(hierarchy)) {
      if (Files.isDirectory(directory)) {
        groups.add(new MemoryGroup(directory, unified));
      }
      directory = directory.getParent();
    }
  }

  /**
   * Returns the smallest limit of a process's groups, in bytes; {@link Long#MAX_VALUE} if there is
   * none.
   */
  public long memoryLimit(String process) {
    return memoryGroups(process).stream()
        .mapToLong(MemoryGroup::limit)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /**
   * Returns the bytes that a process can have at most: the machine's memory, or less if a group
   * sets a limit.
   */
  public long usableMemory(String process) {
    long machine =
        procfs
            .meminfo()
            .bytes("MemTotal")
            .orElseThrow(
                () ->
                    new IllegalStateException(
                        "/proc/meminfo does not tell the memory: is /proc mounted?"));
    return Math.min(machine, memoryLimit(process));
  }

  /** A group that memory is charged to. Reads at every call. */
  public final class MemoryGroup {
    private final Path directory;
    private final boolean unified;

    private MemoryGroup(Path directory, boolean unified) {
      this.directory = directory;
      this.unified = unified;
    }

    /** Tells whether it is of version 2. */
    public boolean isUnified() {
      return unified;
    }

    /** Returns the directory of its files. */
    public Path directory() {
      return directory;
    }

    /** Returns its path below the directory of all hierarchies. */
    public String name() {
      return "/" + top.relativize(directory);
    }

    /** Returns the limit of the group, in bytes; {@link Long#MAX_VALUE} for no limit. */
    public long limit() {
      return bytes(unified ? "memory.max" : "memory.limit_in_bytes");
    }

    /**
     * Returns the bytes above which the kernel slows everybody in the group down, which is as bad
     * as a limit; {@link Long#MAX_VALUE} for none.
     */
    public long throttle() {
      return unified ? bytes("memory.high") : Long.MAX_VALUE;
    }

    /** Returns the bytes that the group uses; {@link Long#MAX_VALUE} if that is not known. */
    public long used() {
      return bytes(unified ? "memory.current" : "memory.usage_in_bytes");
    }

    /** Returns the bytes that the kernel could reclaim. Pinned pages are not among them. */
    public long reclaimable() {
      Procfs.Fields stat = fields("memory.stat");
      return (unified
              ? Stream.of("inactive_file", "active_file", "slab_reclaimable")
              : Stream.of("total_inactive_file", "total_active_file"))
          .mapToLong(name -> stat.number(name).orElse(0))
          .sum();
    }

    /** Returns how many processes the kernel has killed for want of memory. */
    public long kills() {
      return fields(unified ? "memory.events" : "memory.oom_control").number("oom_kill").orElse(0);
    }

    /**
     * Returns the {@linkplain Procfs#memoryStalls stalls} of the group; 0 with version 1, which
     * does not tell.
     */
    public double stalls() {
      return unified ? procfs.stalls(directory.resolve("memory.pressure")) : 0;
    }

    private Procfs.Fields fields(String file) {
      return Procfs.Fields.parse(procfs.text(directory.resolve(file)));
    }

    private long bytes(String file) {
      try {
        long bytes = Long.parseLong(procfs.text(directory.resolve(file)).strip());
        return bytes <= 0 || bytes >= NO_LIMIT ? Long.MAX_VALUE : bytes;
      } catch (NumberFormatException e) {
        return Long.MAX_VALUE; // "max", or there is no such file
      }
    }
  }
}
