package io.holdfast.fs.doctor;

import java.util.ArrayList;
import java.util.List;

/** Looks for files of dead daemons whose mounts have gone. */
final class LeftoversProbe implements Probe {
  private final MountFinder finder;

  LeftoversProbe(MountFinder finder) {
    this.finder = finder;
  }

  @Override
  public String name() {
    return "leftovers";
  }

  @Override
  public List<Finding> run() {
    List<Finding> findings = new ArrayList<>();
    for (MountFinder.Leftover left : finder.leftovers()) {
      findings.add(
          Finding.warn(
              "the daemon of '%s' (pid %d) died and left its files in %s"
                  .formatted(left.name(), left.pid(), left.directory()),
              "mount it again, or 'rm -r %s/%s.*'".formatted(left.directory(), left.name())));
    }
    if (findings.isEmpty()) {
      findings.add(Finding.ok("nothing of dead daemons is left"));
    }
    return findings;
  }
}
