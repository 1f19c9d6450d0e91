package io.holdfast.fs.accesslog;

import ch.qos.logback.core.Context;
import ch.qos.logback.core.rolling.FixedWindowRollingPolicy;
import ch.qos.logback.core.rolling.RollingFileAppender;
import ch.qos.logback.core.rolling.SizeBasedTriggeringPolicy;
import ch.qos.logback.core.util.Duration;
import ch.qos.logback.core.util.FileSize;
import io.holdfast.fs.linux.TrustedPlace;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A log file that grows up to a size, and three older files. Only its owner may write it and only
 * its group may read it, because it has names of files that others may not list. A file with more
 * rights loses them. A file that others could replace is refused.
 */
public final class BoundedFile {
  private static final Logger LOG = LoggerFactory.getLogger(BoundedFile.class);
  private static final Set<PosixFilePermission> MODE = PosixFilePermissions.fromString("rw-r-----");
  private static final int OLDER_FILES = 3;

  /**
   * How often the size is checked: with Logback's default of a minute, a burst of events could fill
   * a disk.
   */
  private static final long SIZE_CHECK_MILLIS = 100;

  private BoundedFile() {}

  /**
   * Returns an appender to the file. The caller must set the encoder, and start the appender.
   *
   * @param mostBytes the size at which another file begins
   * @throws IOException if the file cannot be written
   */
  public static <E> RollingFileAppender<E> appender(Context context, Path file, long mostBytes)
      throws IOException {
    // the appender would only log a failure
    prepare(file);
    for (int i = 1; i <= OLDER_FILES; i++) {
      narrow(file.resolveSibling(file.getFileName() + "." + i));
    }
    RollingFileAppender<E> appender = new PrivateFiles<>();
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

  /** Creates each file with its rights. */
  private static final class PrivateFiles<E> extends RollingFileAppender<E> {
    @Override
    public void openFile(String name) throws IOException {
      prepare(Path.of(name));
      super.openFile(name);
    }
  }

  private static void prepare(Path file) throws IOException {
    TrustedPlace.check("the log", file);
    if (Files.notExists(file, LinkOption.NOFOLLOW_LINKS)) {
      try {
        Files.createFile(file, PosixFilePermissions.asFileAttribute(MODE));
      } catch (FileAlreadyExistsException e) {
        // another process has created the file
      }
    }
    Files.newOutputStream(file, StandardOpenOption.APPEND, LinkOption.NOFOLLOW_LINKS).close();
    narrow(file);
  }

  /**
   * Takes rights from a file. Another user's file stays as it is, because only its owner can do
   * that.
   */
  private static void narrow(Path file) throws IOException {
    if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      Set<PosixFilePermission> rights = Files.getPosixFilePermissions(file);
      if (!MODE.containsAll(rights)) {
        rights.retainAll(MODE);
        try {
          Files.setPosixFilePermissions(file, rights);
        } catch (FileSystemException e) {
          LOG.warn("the log {} can be read by others: {}", file, e.getReason());
        }
      }
    }
  }
}
