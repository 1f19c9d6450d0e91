package io.holdfast.fs.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** Checks whether the kernel has FUSE and permits it, and with which limits. */
final class FuseProbe implements Probe {
  /** The pages of 4 KiB in a request of 1 MiB. */
  private static final long PAGES = 256;

  private final MachineFiles files;
  private final MountRequirements requirements;

  FuseProbe(MachineFiles files, MountRequirements requirements) {
    this.files = files;
    this.requirements = requirements;
  }

  @Override
  public String name() {
    return "fuse";
  }

  @Override
  public List<Finding> run() {
    return requirements.device().map(List::of).orElseGet(this::usable);
  }

  private List<Finding> usable() {
    List<Finding> findings = new ArrayList<>();
    String known =
        files.lines("proc/filesystems").stream().anyMatch(line -> line.strip().endsWith("fuse"))
            ? "the kernel has it"
            : "the module is not loaded, and will be at the first mount";
    StringBuilder text = new StringBuilder("/dev/fuse can be opened; " + known);
    append(text, "max_user_bgreq", "sys/module/fuse/parameters/max_user_bgreq");
    append(text, "max_user_congthresh", "sys/module/fuse/parameters/max_user_congthresh");
    append(text, "fs.fuse.max_pages_limit", "proc/sys/fs/fuse/max_pages_limit");
    findings.add(Finding.ok(text.toString()));
    OptionalLong pages = files.number("proc/sys/fs/fuse/max_pages_limit");
    if (pages.isPresent() && pages.getAsLong() < PAGES) {
      findings.add(
          Finding.warn(
              "requests are limited to %d pages, which makes sequential reads slower"
                  .formatted(pages.getAsLong()),
              "sysctl fs.fuse.max_pages_limit=" + PAGES));
    }
    for (String timeout : List.of("default_request_timeout", "max_request_timeout")) {
      long seconds = files.number("proc/sys/fs/fuse/" + timeout).orElse(0);
      if (seconds > 0) {
        findings.add(
            Finding.warn(
                "the kernel ends a mount whose origin needs more than " + seconds + " s once",
                "sysctl fs.fuse." + timeout + "=0"));
      }
    }
    return findings;
  }

  private void append(StringBuilder text, String label, String file) {
    files.text(file).ifPresent(value -> text.append("; ").append(label).append(' ').append(value));
  }
}
