package io.holdfast.fs.doctor;

import io.holdfast.fs.linux.Cgroups;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.units.Human;
import java.util.ArrayList;
import java.util.List;

/** Checks the machine's memory, the limit of the cgroup, swap and compressed swap. */
final class MemoryProbe implements Probe {
  private final MachineFiles files;

  MemoryProbe(MachineFiles files) {
    this.files = files;
  }

  @Override
  public String name() {
    return "memory";
  }

  @Override
  public List<Finding> run() {
    List<Finding> findings = new ArrayList<>();
    Procfs.Fields memory = files.procfs().meminfo();
    long total = memory.bytes("MemTotal").orElse(0);
    long available = memory.bytes("MemAvailable").orElse(0);
    long limit = new Cgroups(files.procfs()).memoryLimit(Procfs.SELF);
    findings.add(
        Finding.ok(
            Human.bytes(total)
                + ", "
                + Human.bytes(available)
                + " available, "
                + Human.bytes(memory.bytes("Mlocked").orElse(0))
                + " locked; "
                + (limit < total
                    ? "the cgroup that a daemon would start in allows " + Human.bytes(limit)
                    : "no limit of a cgroup")));
    if (available < total / 20) {
      findings.add(
          Finding.warn(
              "less than 5 % of the memory is available: the kernel may have to kill something",
              "mount with a smaller --capacity or --memory"));
    }
    findings.add(swap(memory));
    return findings;
  }

  private Finding swap(Procfs.Fields memory) {
    long total = memory.bytes("SwapTotal").orElse(0);
    if (total == 0) {
      return Finding.ok("no swap");
    }
    long used = total - memory.bytes("SwapFree").orElse(0);
    String text =
        "swap %s, %s used, swappiness %s"
            .formatted(
                Human.bytes(total),
                Human.bytes(used),
                files.text("proc/sys/vm/swappiness").orElse("?"));
    boolean compressed =
        files.text("sys/module/zswap/parameters/enabled").filter("Y"::equals).isPresent();
    if (compressed) {
      text +=
          ", zswap may take %s %% of the memory"
              .formatted(files.text("sys/module/zswap/parameters/max_pool_percent").orElse("?"));
    }
    text += "; pinned pages are never swapped";
    return used > total / 2
        ? Finding.warn(text + ", so others are", "mount with a smaller --capacity or --memory")
        : Finding.ok(text);
  }

  /** Returns the memory of a machine, in bytes. */
  static long total(MachineFiles files) {
    return files.procfs().meminfo().bytes("MemTotal").orElse(0);
  }
}
