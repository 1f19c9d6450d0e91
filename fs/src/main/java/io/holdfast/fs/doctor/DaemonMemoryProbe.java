package io.holdfast.fs.doctor;

import io.holdfast.fs.daemon.SystemMemory;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What a daemon has of memory, against what its cgroup allows it. */
final class DaemonMemoryProbe implements Probe {
  private static final long KIB = 1024;

  private final Subject subject;
  private final Asked asked;
  private final MachineFiles files;

  DaemonMemoryProbe(Subject subject, Asked asked, MachineFiles files) {
    this.subject = subject;
    this.asked = asked;
    this.files = files;
  }

  @Override
  public String name() {
    return "memory";
  }

  @Override
  public List<Finding> run() throws InterruptedException {
    if (subject.pid() == 0) {
      return List.of();
    }
    String process = Long.toString(subject.pid());
    long limit = SystemMemory.cgroupLimit(files.root(), process);
    List<Finding> findings = new ArrayList<>();
    findings.add(
        Finding.ok(
            "locked %s, in memory %s, limit of its cgroup: %s"
                .formatted(
                    kib("VmLck"),
                    kib("VmRSS"),
                    limit == Long.MAX_VALUE ? "none" : Human.bytes(limit))));
    long killed = kills(process);
    if (killed > 0) {
      findings.add(
          Finding.warn(
              "processes of its cgroup that were killed for want of memory: " + killed,
              "raise MemoryMax= of the unit, or mount with a smaller --memory"));
    }
    asked
        .answers()
        .setting("memory")
        .flatMap(DaemonMemoryProbe::size)
        .filter(memory -> memory > limit)
        .ifPresent(
            memory ->
                findings.add(
                    Finding.fail(
                        "--memory is %s, but its cgroup allows %s: it will be killed"
                            .formatted(Human.bytes(memory), Human.bytes(limit)),
                        "raise the cgroup's limit, or 'holdfast restart --memory "
                            + Sizes.exact(limit / 10 * 9)
                            + " "
                            + subject.target()
                            + "'")));
    return findings;
  }

  private String kib(String key) {
    return Human.bytes(files.field("proc/" + subject.pid() + "/status", key).orElse(0) * KIB);
  }

  /** The daemon shows {@code 78125000K (74.5 GiB)}. */
  private static Optional<Long> size(String text) {
    try {
      return Optional.of(Sizes.parse(text.split(" ", 2)[0]));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private long kills(String process) {
    for (String line : files.lines("proc/" + process + "/cgroup")) {
      String[] fields = line.split(":", 3);
      if (fields.length == 3 && fields[0].equals("0")) {
        return files.field("sys/fs/cgroup" + fields[2] + "/memory.events", "oom_kill").orElse(0);
      }
      if (fields.length == 3 && fields[1].equals("memory")) {
        String file = "sys/fs/cgroup/memory" + fields[2] + "/memory.oom_control";
        return files.field(file, "oom_kill ").orElse(0);
      }
    }
    return 0;
  }
}
