package io.holdfast.fs.start;

import io.holdfast.fs.FsException;
import io.holdfast.fs.daemon.Daemon;
import io.holdfast.fs.daemon.Supervision;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.log.DaemonLog;
import io.holdfast.fs.settings.Settings;
import io.holdfast.peer.PeerSetupException;
import org.jspecify.annotations.Nullable;

/** A running mount as the command line needs it. */
public interface DaemonHandle {
  /** Starts mounts. */
  interface Starter {
    /**
     * Mounts; returns when the mount answers.
     *
     * @param supervision what this process has from its supervisor, or null where it has none
     */
    DaemonHandle start(Settings settings, @Nullable Supervision supervision) throws FsException;
  }

  /** Returns what the user may expect, in a line or some. */
  String plan();

  /** Unmounts; idempotent. */
  void stop();

  /** Returns when the mount has ended, for whatever reason. */
  void awaitStopped();

  /** Starts the real daemon. */
  static DaemonHandle real(Settings settings, @Nullable Supervision supervision)
      throws FsException {
    Daemon daemon;
    try {
      daemon = Daemon.start(settings, supervision, DaemonLog::recent);
    } catch (PeerSetupException e) {
      throw CliException.usage(String.valueOf(e.getMessage()), e);
    }
    return new DaemonHandle() {
      @Override
      public String plan() {
        return daemon.plan();
      }

      @Override
      public void stop() {
        daemon.stop();
      }

      @Override
      public void awaitStopped() {
        daemon.awaitStopped();
      }
    };
  }
}
