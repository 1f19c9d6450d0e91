package io.holdfast.fs.debug;

import io.holdfast.fs.doctor.MachineFiles;
import io.holdfast.fs.linux.Cgroups;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The limits and counters of a process's cgroups, from its own up to the root. Immutable. */
final class CgroupText {
  private static final List<String> UNIFIED =
      List.of(
          "memory.max",
          "memory.high",
          "memory.current",
          "memory.peak",
          "memory.swap.max",
          "memory.events",
          "memory.stat",
          "memory.pressure",
          "cpu.max",
          "cpu.stat",
          "pids.max",
          "pids.current");

  private static final List<String> MEMORY =
      List.of(
          "memory.limit_in_bytes",
          "memory.usage_in_bytes",
          "memory.max_usage_in_bytes",
          "memory.failcnt",
          "memory.oom_control",
          "memory.stat");

  private final MachineFiles files;

  CgroupText(MachineFiles files) {
    this.files = files;
  }

  /** Returns the text for a process, or for {@code self}. */
  String of(String process) {
    List<String> names = new ArrayList<>(List.of("proc/" + process + "/cgroup"));
    for (Cgroups.MemoryGroup group : new Cgroups(files.procfs()).memoryGroups(process)) {
      Path directory = files.root().relativize(group.directory());
      for (String file : group.isUnified() ? UNIFIED : MEMORY) {
        names.add(directory.resolve(file).toString());
      }
    }
    return KernelFilesText.all(files, names);
  }
}
