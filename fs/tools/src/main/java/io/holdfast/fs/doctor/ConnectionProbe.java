package io.holdfast.fs.doctor;

import io.holdfast.fs.linux.MountTable;
import java.util.List;
import java.util.OptionalLong;

/** Checks a mount's connection to its daemon, as the kernel shows it. */
final class ConnectionProbe implements Probe {
  private final Subject subject;
  private final MachineFiles files;

  ConnectionProbe(Subject subject, MachineFiles files) {
    this.subject = subject;
    this.files = files;
  }

  @Override
  public String name() {
    return "connection";
  }

  @Override
  public List<Finding> run() {
    MountTable.Mount mount = subject.mount();
    if (mount == null) {
      return List.of();
    }
    String minor = mount.device().substring(mount.device().indexOf(':') + 1);
    OptionalLong waiting = files.number("sys/fs/fuse/connections/" + minor + "/waiting");
    if (waiting.isEmpty()) {
      return List.of(
          Finding.ok(
              "how many requests wait is not known: 'mount -t fusectl none"
                  + " /sys/fs/fuse/connections' shows it to root"));
    }
    return List.of(
        Finding.ok(
            "connection %s, requests that wait for an answer: %d"
                .formatted(minor, waiting.getAsLong())));
  }
}
