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

/** Opens the daemon's access log, and makes its events and figures. Stateless. */
final class Accesses {
  private Accesses() {}

  /**
   * Opens the access log.
   *
   * @param first whether this is the first daemon of the mount: if the file is a socket, a program
   *     must listen at it then
   * @throws FsException if the log cannot be written, with one line for the user
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
