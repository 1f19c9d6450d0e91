package io.holdfast.fs.doctor;

import io.holdfast.fs.units.Human;
import java.nio.file.Files;
import java.util.List;

/** Checks how many residents a process may have: each is one mapping. */
final class MappingsProbe implements Probe {
  static final String FILE = "proc/sys/vm/max_map_count";

  /** The mappings that the virtual machine and its libraries need. */
  static final long RESERVED = 8192;

  /** Enough for most datasets; fewer get a warning. */
  private static final long PLENTY = 1_000_000;

  private final MachineFiles files;

  MappingsProbe(MachineFiles files) {
    this.files = files;
  }

  @Override
  public String name() {
    return "mappings";
  }

  @Override
  public List<Finding> run() {
    long count = files.number(FILE).orElse(0);
    if (count == 0) {
      return List.of(Finding.warn("vm.max_map_count cannot be read", "mount /proc"));
    }
    String text = "vm.max_map_count " + Human.grouped(count);
    if (count >= PLENTY) {
      return List.of(Finding.ok(text));
    }
    if (Files.isWritable(files.path(FILE))) {
      return List.of(Finding.ok(text + "; a daemon raises it as far as its capacity needs"));
    }
    return List.of(
        Finding.warn(
            text
                + ", and may not be raised from here: at most "
                + Human.grouped(Math.max(0, count - RESERVED))
                + " items can be resident",
            "sysctl vm.max_map_count=" + 16 * PLENTY));
  }
}
