package io.holdfast.fs.doctor;

import io.holdfast.fs.daemon.SystemMemory;
import io.holdfast.fs.units.Human;
import java.util.ArrayList;
import java.util.List;

/** The machine's memory, the limit of the cgroup, swap and compressed swap. */
final class MemoryProbe implements Probe {
  private static final String MEMINFO = "proc/meminfo";
  private static final long KIB = 1024;

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
    long total = total(files);
    long available = kib("MemAvailable");
    long limit = SystemMemory.cgroupLimit(files.root(), "self");
    findings.add(
        Finding.ok(
            Human.bytes(total)
                + ", "
                + Human.bytes(available)
                + " available, "
                + Human.bytes(kib("Mlocked"))
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
    findings.add(swap());
    return findings;
  }

  private Finding swap() {
    long total = kib("SwapTotal");
    if (total == 0) {
      return Finding.ok("no swap");
    }
    long used = total - kib("SwapFree");
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
    return kib(files, "MemTotal");
  }

  private long kib(String key) {
    return kib(files, key);
  }

  private static long kib(MachineFiles files, String key) {
    return files.field(MEMINFO, key).orElse(0) * KIB;
  }
}
