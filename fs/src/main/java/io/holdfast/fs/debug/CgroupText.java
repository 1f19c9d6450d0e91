package io.holdfast.fs.debug;

import io.holdfast.fs.doctor.MachineFiles;
import java.util.ArrayList;
import java.util.List;

/** What the cgroups of a process allow and have counted, versions 1 and 2. Immutable. */
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

  /** Returns them of a process, or of {@code self}. */
  String of(String process) {
    String list = "proc/" + process + "/cgroup";
    List<String> names = new ArrayList<>(List.of(list));
    for (String line : files.lines(list)) {
      String[] fields = line.split(":", 3);
      if (fields.length == 3 && fields[0].equals("0")) {
        UNIFIED.forEach(file -> names.add("sys/fs/cgroup" + fields[2] + "/" + file));
      } else if (fields.length == 3 && List.of(fields[1].split(",", -1)).contains("memory")) {
        MEMORY.forEach(file -> names.add("sys/fs/cgroup/memory" + fields[2] + "/" + file));
      }
    }
    return Texts.all(files, names);
  }
}
