package io.holdfast.fs.daemon;

import io.holdfast.fs.AccessEvent;
import io.holdfast.fs.AccessLog;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.accesslog.AccessLogFile;
import io.holdfast.fs.accesslog.Sampling;
import io.holdfast.fs.stats.Activity;
import io.holdfast.fs.stats.Caller;
import io.holdfast.fs.transit.Item;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The daemon's access log: what is put into it, and what is said of it. Stateless. */
final class Accesses {
  private Accesses() {}

  /**
   * Opens the access log.
   *
   * @throws FsException where it cannot be written, with one line for the user
   */
  static AccessLogFile open(Path file, Sampling sampling, Activity activity) throws FsException {
    try {
      return new AccessLogFile(
          file, sampling, thread -> who(activity.caller(thread)), System::nanoTime);
    } catch (IOException e) {
      throw new FsException(
          FsError.UNAVAILABLE,
          "the access log '" + file + "' cannot be written: choose another with --access-log",
          e);
    }
  }

  private static AccessLogFile.Who who(Caller caller) {
    return new AccessLogFile.Who(caller.pid(), caller.job());
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
  static Supplier<Map<String, Object>> figures(AccessLog log) {
    if (log instanceof AccessLogFile file) {
      return file::figures;
    }
    Map<String, Object> none = new LinkedHashMap<>();
    for (String fate : AccessLogFile.FATES) {
      none.put(fate, 0);
    }
    return () -> none;
  }
}
