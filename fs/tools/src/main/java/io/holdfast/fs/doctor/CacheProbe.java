package io.holdfast.fs.doctor;

import io.holdfast.fs.figures.CacheFigures;
import io.holdfast.fs.figures.DatasetFigures;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.MemoryFigures;
import io.holdfast.fs.units.Human;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Checks whether a mount keeps the items that it should keep. */
final class CacheProbe implements Probe {
  private static final double LOW = 0.2;

  private final PendingAnswers pending;
  private final MachineFiles files;

  CacheProbe(PendingAnswers pending, MachineFiles files) {
    this.pending = pending;
    this.files = files;
  }

  @Override
  public String name() {
    return "cache";
  }

  @Override
  public List<Finding> run() throws InterruptedException {
    Optional<Figures> figures = pending.answers().figures();
    return figures.isEmpty() ? List.of() : judge(figures.get());
  }

  private List<Finding> judge(Figures stats) {
    CacheFigures cache = stats.cache();
    DatasetFigures dataset = stats.dataset();
    List<Finding> findings = new ArrayList<>();
    boolean hasFiles = dataset.files() > 0;
    double planned = cache.plannedHitRatio();
    String text =
        "capacity %s%s, resident %s, dataset %s%s: planned hit ratio %s"
            .formatted(
                Human.bytes(cache.capacityBytes()),
                cache.capacityOfNodeBudget() ? " of the node's budget" : "",
                Human.bytes(cache.residentBytes()),
                Human.bytes(dataset.bytes()),
                dataset.scanned() ? "" : " so far",
                hasFiles ? Human.ratio(planned) : "-");
    findings.add(
        hasFiles && planned < LOW
            ? Finding.warn(text, "more --capacity, or more nodes (--peers)")
            : Finding.ok(text));
    MemoryFigures memory = stats.memory();
    if (!memory.cause().isEmpty()) {
      findings.add(
          Finding.warn(
              "residents may take %s for now, because of %s: %s"
                  .formatted(Human.bytes(memory.allowedBytes()), memory.cause(), memory.state()),
              "a smaller --capacity, or less memory for others: see 'Residents make way' in"
                  + " TROUBLESHOOTING"));
    }
    if (cache.pinFailures() > 0) {
      findings.add(
          Finding.warn(
              "pins that failed: " + cache.pinFailures(),
              "see 'ENOMEM on a pin' in TROUBLESHOOTING: locked memory, vm.max_map_count"));
    }
    if (cache.pin().equals("soft")) {
      findings.add(
          Finding.warn(
              "pages are not locked (--pin soft), so the kernel may drop them",
              "run as root, or 'ulimit -l unlimited' before the mount"));
    }
    if (dataset.acls().equals("strict")) {
      findings.add(
          Finding.warn(
              "the dataset has ACLs, and the kernel does not decide by them: who has rights by an"
                  + " ACL alone is denied",
              "mount again, with root and the kernel binding, or with --acl kernel"));
    }
    addMappings(findings, Math.round(planned * dataset.files()));
    return findings;
  }

  private void addMappings(List<Finding> findings, long items) {
    long most = files.number(MappingsProbe.FILE).orElse(Long.MAX_VALUE) - MappingsProbe.RESERVED;
    if (items > most) {
      findings.add(
          Finding.warn(
              "some %s items would fit, but vm.max_map_count allows %s"
                  .formatted(Human.grouped(items), Human.grouped(Math.max(0, most))),
              "sysctl vm.max_map_count=" + (items + 2 * MappingsProbe.RESERVED)));
    }
  }
}
