package io.holdfast.fs.client;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlClient;
import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.daemon.SupervisedMount;
import io.holdfast.fs.host.CliException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * Asks a daemon through its socket. When it does not answer, the command ends with what the user
 * can do about it; but the next daemon of a mount, which does not listen yet, is waited for.
 * Immutable.
 */
public final class DaemonClient {
  private final RunningDaemon daemon;
  private final ControlClient client;
  private final Duration start;

  /** A question that the daemon may not answer. */
  private interface Question<T> {
    T ask() throws FsException;
  }

  /**
   * Prepares to ask.
   *
   * @param deadline how long an answer may take
   */
  public DaemonClient(RunningDaemon daemon, Duration deadline) {
    this(daemon, deadline, Targets.LONGEST_START);
  }

  /**
   * Prepares to ask.
   *
   * @param deadline how long an answer may take
   * @param start how long the next daemon may take until it listens
   */
  DaemonClient(RunningDaemon daemon, Duration deadline, Duration start) {
    this.daemon = daemon;
    this.start = start;
    this.client = new ControlClient(daemon.socket(), deadline);
  }

  /** Returns its figures. */
  public Map<String, Object> stats() {
    return answer(client::stats);
  }

  /** Returns a row for each node of its cluster; none without peers. */
  public List<Map<String, Object>> peers() {
    return answer(client::peers);
  }

  /** Returns a row for each of its settings. */
  public List<Map<String, Object>> config() {
    return answer(client::config);
  }

  /** Has it look for changes at and below a path; returns how many there were. */
  public long refresh(String path) {
    return answer(() -> client.refresh(path));
  }

  /** Begins a task, or asks about one. */
  public Map<String, Object> task(Map<String, Object> request) {
    return answer(() -> client.task(request));
  }

  /** Announces a part of an order, or forgets one. */
  Map<String, Object> order(Map<String, Object> request) {
    return answer(() -> client.order(request));
  }

  private <T> T answer(Question<T> question) {
    long end = System.nanoTime() + start.toNanos();
    while (true) {
      try {
        return question.ask();
      } catch (FsException e) {
        boolean unheard = e.code() == FsError.UNAVAILABLE;
        if (!unheard || !hasNext() || System.nanoTime() - end > 0) {
          throw explain(e, daemon);
        }
        LockSupport.parkNanos(Targets.PAUSE.toNanos());
      }
    }
  }

  /** Tells whether a supervisor sees to it that the mount has a daemon. */
  private boolean hasNext() {
    Path directory = daemon.socket().toAbsolutePath().getParent();
    if (directory == null) {
      return false;
    }
    Path state = ControlDirectory.at(directory).stateDirectory(daemon.name());
    return SupervisedMount.isSupervised(state) && !SupervisedMount.hasEnded(state);
  }

  /** Says what the user can do about a daemon that did not answer. */
  public static CliException explain(FsException failure, RunningDaemon daemon) {
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
