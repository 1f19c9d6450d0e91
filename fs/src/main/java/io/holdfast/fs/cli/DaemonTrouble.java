package io.holdfast.fs.cli;

import io.holdfast.fs.FsException;
import io.holdfast.fs.control.RunningDaemon;

/** What to tell the user when a daemon could not be asked. Stateless. */
final class DaemonTrouble {
  private DaemonTrouble() {}

  static CliException explain(FsException failure, RunningDaemon daemon) {
    String who = "the daemon of '" + daemon.name() + "' (pid " + daemon.pid() + ")";
    return switch (failure.code()) {
      case ACCESS_DENIED ->
          CliException.couldNot(
              who
                  + " answers only the user that started it: run as that user, or read "
                  + daemon.mountpoint().resolve(".holdfast/stats"),
              failure);
      case TIMED_OUT ->
          CliException.couldNot(
              who
                  + " does not answer: look into its log, or end it with 'holdfast umount --force "
                  + daemon.mountpoint()
                  + "'",
              failure);
      case UNAVAILABLE -> CliException.couldNot(who + " has just ended", failure);
      default -> CliException.couldNot(who + " refused: " + failure.getMessage(), failure);
    };
  }
}
