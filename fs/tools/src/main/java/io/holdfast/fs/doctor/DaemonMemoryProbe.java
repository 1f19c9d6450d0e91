package io.holdfast.fs.doctor;

import io.holdfast.fs.linux.Cgroups;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Compares the memory of a daemon with the limit of its cgroup. */
final class DaemonMemoryProbe implements Probe {
  private final Subject subject;
  private final PendingAnswers pending;
  private final MachineFiles files;

  DaemonMemoryProbe(Subject subject, PendingAnswers pending, MachineFiles files) {
    this.subject = subject;
    this.pending = pending;
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
    Procfs.Fields status = files.procfs().status(process);
    Cgroups cgroups = new Cgroups(files.procfs());
    long limit = cgroups.memoryLimit(process);
    List<Finding> findings = new ArrayList<>();
    findings.add(
        Finding.ok(
            "locked %s, in memory %s, limit of its cgroup: %s"
                .formatted(
                    Human.bytes(status.bytes("VmLck").orElse(0)),
                    Human.bytes(status.bytes("VmRSS").orElse(0)),
                    limit == Long.MAX_VALUE ? "none" : Human.bytes(limit))));
    long killed =
        cgroups.memoryGroups(process).stream()
            .findFirst()
            .map(Cgroups.MemoryGroup::kills)
            .orElse(0L);
    if (killed > 0) {
      findings.add(
          Finding.warn(
              "processes of its cgroup that were killed for want of memory: " + killed,
              "raise MemoryMax= of the unit, or mount with a smaller --memory"));
    }
    pending
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

  /** Parses a size as the daemon shows it: {@code 78125000K (74.5 GiB)}. */
  private static Optional<Long> size(String text) {
    try {
      return Optional.of(Sizes.parse(text.split(" ", 2)[0]));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
