package io.holdfast.fs.doctor;

import io.holdfast.fs.linux.MountTable;
import java.util.ArrayList;
import java.util.List;

/** Checks whether the processes behind a mount are there and run. */
final class DaemonProbe implements Probe {
  private final Subject subject;
  private final MachineFiles files;
  private final int uid;

  DaemonProbe(Subject subject, MachineFiles files, int uid) {
    this.subject = subject;
    this.files = files;
    this.uid = uid;
  }

  @Override
  public String name() {
    return "daemon";
  }

  @Override
  public List<Finding> run() {
    if (subject.pid() == 0) {
      return List.of(subject.supervisor() == 0 ? dead() : beingStarted());
    }
    List<Finding> findings = new ArrayList<>();
    findings.add(state(subject.pid()));
    if (subject.mount() == null) {
      findings.add(withoutMount());
    }
    if (subject.supervisor() != 0 && isStopped(subject.supervisor())) {
      findings.add(
          Finding.warn(
              "the supervisor (pid %d) is stopped and starts no other daemon"
                  .formatted(subject.supervisor()),
              "kill -CONT " + subject.supervisor()));
    }
    return findings;
  }

  private Finding withoutMount() {
    String found = "it runs, but nothing is mounted at " + subject.mountpoint();
    return subject.isCheckpoint()
        ? Finding.warn(
            found + ": it ends when the store has everything, and programs have closed their files",
            "'holdfast umount %s' waits for that".formatted(subject.name()))
        : Finding.fail(found, "holdfast umount --force " + subject.name());
  }

  private Finding dead() {
    MountTable.Mount mount = subject.mount();
    String owner = mount == null ? "" : mount.userId().orElse("");
    if (subject.deadPid() == 0 && uid != 0 && !owner.equals(Integer.toString(uid))) {
      return Finding.warn(
          "its daemon is one of user %s and cannot be seen from here".formatted(owner),
          "run this as that user");
    }
    String who =
        subject.deadPid() == 0
            ? "no daemon of it is to be found: it is dead, or runs in another container"
            : "its daemon (pid %d) is dead".formatted(subject.deadPid());
    return Finding.fail(
        who
            + ": %s get 'Transport endpoint is not connected'"
                .formatted(subject.isCheckpoint() ? "programs" : "readers"),
        "holdfast umount %s, and mount again%s"
            .formatted(subject.target(), subject.isCheckpoint() ? " with the same front" : ""));
  }

  private Finding beingStarted() {
    return isStopped(subject.supervisor())
        ? Finding.fail(
            "its daemon is dead, and the supervisor (pid %d) is stopped"
                .formatted(subject.supervisor()),
            "kill -CONT " + subject.supervisor())
        : Finding.warn(
            "its daemon is being started again by the supervisor (pid %d)"
                .formatted(subject.supervisor()),
            "wait 10 s; then look into its log");
  }

  private Finding state(long pid) {
    char state = files.procfs().state(pid);
    return switch (state) {
      case 'T', 't' ->
          Finding.fail(
              "its daemon (pid %d) is stopped, by SIGSTOP or a debugger: %s"
                  .formatted(
                      pid,
                      subject.isCheckpoint()
                          ? "programs that use the mount wait"
                          : "reads of what is not resident wait"),
              "kill -CONT " + pid);
      case 'Z', 'X', '?' ->
          Finding.fail(
              "its daemon (pid %d) has ended".formatted(pid),
              "holdfast umount --force " + subject.name());
      default ->
          Finding.ok(
              "pid %d runs%s%s"
                  .formatted(
                      pid,
                      subject.supervisor() == 0 ? "" : ", supervisor " + subject.supervisor(),
                      restarts()));
    };
  }

  private String restarts() {
    return subject.state() == null
        ? ""
        : new MachineFiles(subject.state())
            .text("restarts")
            .map(count -> ", restarts " + count)
            .orElse("");
  }

  private boolean isStopped(long pid) {
    char state = files.procfs().state(pid);
    return state == 'T' || state == 't';
  }
}
