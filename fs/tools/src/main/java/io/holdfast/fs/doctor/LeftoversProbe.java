package io.holdfast.fs.doctor;

import java.util.ArrayList;
import java.util.List;

/** Looks for files of dead daemons whose mounts have gone. */
final class LeftoversProbe implements Probe {
  private final MountFinder finder;
  private final int uid;

  LeftoversProbe(MountFinder finder, int uid) {
    this.finder = finder;
    this.uid = uid;
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
              "mount it again, or 'holdfast umount --if-dead %s'%s"
                  .formatted(left.name(), left.owner() == uid ? "" : " as user " + left.owner())));
    }
    if (findings.isEmpty()) {
      findings.add(Finding.ok("nothing of dead daemons is left"));
    }
    return findings;
  }
}
