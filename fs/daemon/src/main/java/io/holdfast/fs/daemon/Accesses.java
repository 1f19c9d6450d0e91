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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The daemon's access log: what is put into it, and what is said of it. Stateless. */
final class Accesses {
  private Accesses() {}

  /**
   * Opens the access log.
   *
   * @param first whether no daemon has had this mount before: then somebody must listen, where it
   *     is a socket
   * @throws FsException where it cannot be written, with one line for the user
   */
  static AccessLogWriter open(Path file, boolean first, Sampling sampling, Activity activity)
      throws FsException {
    try {
      return new AccessLogWriter(
          file, first, sampling, thread -> who(activity.caller(thread)), System::nanoTime);
    } catch (IOException e) {
      throw new FsException(
          FsError.UNAVAILABLE,
          "the access log '"
              + file
              + "' cannot be written: choose another with --access-log; where it is a socket, start"
              + " what listens there first",
          e);
    }
  }

  private static AccessLogWriter.Who who(Caller caller) {
    return new AccessLogWriter.Who(caller.pid(), caller.job());
  }

  /** Returns what happened to an item, or to a part of one. */
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

  /** Returns what makes {@code access_log} of {@code stats.json}: 0 where there is none. */
  static Supplier<AccessLogFigures> figures(AccessLog log) {
    return log instanceof AccessLogWriter file ? file::figures : () -> AccessLogFigures.NONE;
  }
}
