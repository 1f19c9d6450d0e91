package io.holdfast.fs.accesslog;

import ch.qos.logback.core.Context;
import ch.qos.logback.core.rolling.FixedWindowRollingPolicy;
import ch.qos.logback.core.rolling.RollingFileAppender;
import ch.qos.logback.core.rolling.SizeBasedTriggeringPolicy;
import ch.qos.logback.core.util.Duration;
import ch.qos.logback.core.util.FileSize;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A file of a log that grows up to a size, and three older ones. */
public final class BoundedFile {
  private static final int OLDER_FILES = 3;

  /** Logback's own choice of a minute would let a burst of events fill a disk. */
  private static final long SIZE_CHECK_MILLIS = 100;

  private BoundedFile() {}

  /**
   * Prepares to write behind what is there; the encoder is still to be set, and the appender to be
   * started.
   *
   * @param mostBytes size at which another file begins
   * @throws IOException where the file cannot be written
   */
  public static <E> RollingFileAppender<E> appender(Context context, Path file, long mostBytes)
      throws IOException {
    // the appender would only complain to the log
    Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND).close();
    RollingFileAppender<E> appender = new RollingFileAppender<>();
    appender.setContext(context);
    appender.setFile(file.toString());
    FixedWindowRollingPolicy rolling = new FixedWindowRollingPolicy();
    rolling.setContext(context);
    rolling.setParent(appender);
    rolling.setFileNamePattern(file.toString().replace("%", "\\%") + ".%i");
    rolling.setMinIndex(1);
    rolling.setMaxIndex(OLDER_FILES);
    SizeBasedTriggeringPolicy<E> trigger = new SizeBasedTriggeringPolicy<>();
    trigger.setContext(context);
    trigger.setMaxFileSize(new FileSize(mostBytes));
    trigger.setCheckIncrement(Duration.buildByMilliseconds(SIZE_CHECK_MILLIS));
    appender.setRollingPolicy(rolling);
    appender.setTriggeringPolicy(trigger);
    rolling.start();
    trigger.start();
    return appender;
  }
}
