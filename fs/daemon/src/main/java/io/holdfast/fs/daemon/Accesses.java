package io.holdfast.fs.daemon;

import io.holdfast.fs.AccessEvent;
import io.holdfast.fs.AccessLog;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.accesslog.AccessLogWriter;
import io.holdfast.fs.accesslog.Sampling;
import io.holdfast.fs.figures.AccessLogFigures;
import io.holdfast.fs.stats.Activity;
import io.holdfast.fs.stats.Caller;
import io.holdfast.fs.transit.Item;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens the daemon's access log, and makes its events and figures. Stateless. */
final class Accesses {
  private static final Logger log = LoggerFactory.getLogger(Accesses.class);

  private Accesses() {}

  /**
   * Opens the access log. A daemon that takes a mount over never fails here: it returns nothing if
   * the log cannot be written.
   *
   * @param supervision what the supervisor gave the daemon, or null without a supervisor
   * @throws FsException if the first daemon of a mount cannot write the log, with one line for the
   *     user
   */
  static Optional<AccessLogWriter> open(
      Path file, @Nullable Supervision supervision, Sampling sampling, Activity activity)
      throws FsException {
    boolean first = supervision == null || !supervision.takesOver();
    try {
      return Optional.of(
          new AccessLogWriter(
              file,
              kind(file, first, supervision),
              sampling,
              thread -> who(activity.caller(thread)),
              System::nanoTime));
    } catch (IOException e) {
      if (!first) {
        log.warn(
            "the access log {} cannot be written, the mount goes on without: {}",
            file,
            e.toString());
        return Optional.empty();
      }
      throw new FsException(
          FsError.UNAVAILABLE,
          "the access log '"
              + file
              + "' cannot be written: choose another with --access-log; where it is a socket, start"
              + " what listens there first",
          e);
    }
  }

  /**
   * Returns the kind of the log. A socket is one for all later daemons, too: a program that does
   * not run has often removed its socket.
   */
  private static AccessLogWriter.Kind kind(
      Path file, boolean first, @Nullable Supervision supervision) throws IOException {
    boolean known = supervision != null && supervision.isAccessSocket(file);
    if (!known && !AccessLogWriter.isSocket(file)) {
      return AccessLogWriter.Kind.FILE;
    }
    if (!known && supervision != null) {
      supervision.rememberAccessSocket(file);
    }
    return first ? AccessLogWriter.Kind.SOCKET_WITH_LISTENER : AccessLogWriter.Kind.SOCKET;
  }

  private static AccessLogWriter.Who who(Caller caller) {
    return new AccessLogWriter.Who(caller.pid(), caller.job());
  }

  /** Returns the event of a fetch of an item, or of a part of one. */
  static AccessEvent fetch(
      Item item, ReadSource source, long nanos, @Nullable FsException failure) {
    return new AccessEvent(
        AccessEvent.Kind.FETCH,
        0,
        item.path(),
        item.offset(),
        item.length(),
        failure == null ? source : null,
        nanos,
        failure == null ? null : failure.code());
  }

  /**
   * Returns the supplier of {@code access_log} in {@code stats.json}: all 0 without an access log.
   */
  static Supplier<AccessLogFigures> figures(AccessLog log) {
    return log instanceof AccessLogWriter file ? file::figures : () -> AccessLogFigures.NONE;
  }
}
