package io.holdfast.fs.cli;

import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.control.RunningDaemon;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Finds the daemon that a user means by a name, a mountpoint or nothing. Stateless. */
final class Targets {
  private final Host host;

  Targets(Host host) {
    this.host = host;
  }

  /** Returns the daemons of this user, and those of root that it can see. */
  List<RunningDaemon> running() {
    List<RunningDaemon> running = new ArrayList<>(host.control().running());
    if (host.uid() != 0) {
      running.addAll(ControlDirectory.ofRoot().running());
    }
    return running;
  }

  /** Returns the daemon of that name, or of that mountpoint. */
  Optional<RunningDaemon> find(String nameOrMountpoint) {
    List<RunningDaemon> running = running();
    for (RunningDaemon daemon : running) {
      if (daemon.name().equals(nameOrMountpoint)) {
        return Optional.of(daemon);
      }
    }
    if (nameOrMountpoint.isEmpty()) {
      return Optional.empty();
    }
    Path path = host.locate(Path.of(nameOrMountpoint));
    return running.stream().filter(daemon -> daemon.mountpoint().equals(path)).findFirst();
  }

  /** The same, but fails when there is none. */
  RunningDaemon get(String nameOrMountpoint) {
    return find(nameOrMountpoint)
        .orElseThrow(
            () ->
                CliException.couldNot(
                    "'" + nameOrMountpoint + "' is no running Holdfast mount: " + hint()));
  }

  /** Returns the only daemon that is running; this user's own come before root's. */
  RunningDaemon only() {
    List<RunningDaemon> own = host.control().running();
    List<RunningDaemon> running = own.isEmpty() ? running() : own;
    if (running.isEmpty()) {
      throw CliException.couldNot("no Holdfast mount is running: start one with 'holdfast mount'");
    }
    if (running.size() > 1) {
      throw CliException.usage("several mounts are running: name one of " + names(running));
    }
    return running.get(0);
  }

  private String hint() {
    List<RunningDaemon> running = running();
    return running.isEmpty() ? "none is running" : "running are " + names(running);
  }

  private static String names(List<RunningDaemon> running) {
    return running.stream()
        .map(daemon -> daemon.name() + " (" + daemon.mountpoint() + ")")
        .collect(Collectors.joining(", "));
  }
}
