package io.holdfast.fs.doctor;

import io.holdfast.fs.control.Figures;
import io.holdfast.fs.units.Human;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Whether a mount keeps what it was told to keep. */
final class CacheProbe implements Probe {
  private static final double LOW = 0.2;

  private final Asked asked;
  private final MachineFiles files;

  CacheProbe(Asked asked, MachineFiles files) {
    this.asked = asked;
    this.files = files;
  }

  @Override
  public String name() {
    return "cache";
  }

  @Override
  public List<Finding> run() throws InterruptedException {
    Optional<Figures> figures = asked.answers().figures();
    return figures.isEmpty() ? List.of() : judge(figures.get());
  }

  private List<Finding> judge(Figures stats) {
    Figures cache = stats.group("cache");
    Figures dataset = stats.group("dataset");
    List<Finding> findings = new ArrayList<>();
    double planned = cache.real("planned_hit_ratio");
    String text =
        "capacity %s, resident %s, dataset %s%s: planned hit ratio %s"
            .formatted(
                Human.bytes(cache.number("capacity_bytes")),
                Human.bytes(cache.number("resident_bytes")),
                Human.bytes(dataset.number("bytes")),
                dataset.is("scanned") ? "" : " so far",
                Human.ratio(planned));
    findings.add(
        planned < LOW
            ? Finding.warn(text, "more --capacity, or more nodes (--peers)")
            : Finding.ok(text));
    Figures memory = stats.group("memory");
    if (!memory.text("cause").isEmpty()) {
      findings.add(
          Finding.warn(
              "residents may take %s for now, because of %s: %s"
                  .formatted(
                      Human.bytes(memory.number("allowed_bytes")),
                      memory.text("cause"),
                      memory.text("state")),
              "a smaller --capacity, or less memory for others: see 'Residents make way' in"
                  + " TROUBLESHOOTING"));
    }
    if (cache.number("pin_failures") > 0) {
      findings.add(
          Finding.warn(
              "pins that failed: " + cache.number("pin_failures"),
              "see 'ENOMEM on a pin' in TROUBLESHOOTING: locked memory, vm.max_map_count"));
    }
    if (cache.text("pin").equals("soft")) {
      findings.add(
          Finding.warn(
              "pages are not locked (--pin soft), so the kernel may drop them",
              "run as root, or 'ulimit -l unlimited' before the mount"));
    }
    addMappings(findings, Math.round(planned * dataset.number("files")));
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
