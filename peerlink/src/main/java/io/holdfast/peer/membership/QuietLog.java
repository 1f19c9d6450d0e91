package io.holdfast.peer.membership;

import java.util.concurrent.atomic.AtomicLong;
import org.jgroups.logging.CustomLogFactory;
import org.jgroups.logging.Log;
import org.jgroups.logging.LogFactory;
import org.jgroups.logging.Slf4jLogImpl;

/**
 * The log of JGroups, which complains of every closed connection and every retransmission. Passes
 * on a warning at most once a minute for each protocol; everything else goes to the debug level.
 * Thread-safe.
 */
final class QuietLog extends Slf4jLogImpl {
  private static final long MINUTE_NANOS = 60_000_000_000L;

  private final AtomicLong next = new AtomicLong(System.nanoTime());

  private QuietLog(Class<?> of) {
    super(of);
  }

  private QuietLog(String category) {
    super(category);
  }

  /** Makes JGroups use this log in the whole process. */
  static void install() {
    LogFactory.setCustomLogFactory(
        new CustomLogFactory() {
          @Override
          public Log getLog(Class<?> of) {
            return new QuietLog(of);
          }

          @Override
          public Log getLog(String category) {
            return new QuietLog(category);
          }
        });
  }

  private boolean mayWarn() {
    long now = System.nanoTime();
    long due = next.get();
    return now - due >= 0 && next.compareAndSet(due, now + MINUTE_NANOS);
  }

  @Override
  public void warn(String message) {
    if (mayWarn()) {
      super.warn(message);
    } else {
      debug(message);
    }
  }

  @Override
  public void warn(String format, Object... args) {
    if (mayWarn()) {
      super.warn(format, args);
    } else {
      debug(format, args);
    }
  }

  @Override
  public void warn(String message, Throwable cause) {
    if (mayWarn()) {
      super.warn(message, cause);
    } else {
      debug(message, cause);
    }
  }

  @Override
  public void error(String message) {
    warn(message);
  }

  @Override
  public void error(String format, Object... args) {
    warn(format, args);
  }

  @Override
  public void error(String message, Throwable cause) {
    warn(message, cause);
  }

  @Override
  public void fatal(String message) {
    warn(message);
  }

  @Override
  public void fatal(String format, Object... args) {
    warn(format, args);
  }

  @Override
  public void fatal(String message, Throwable cause) {
    warn(message, cause);
  }

  @Override
  public void info(String message) {
    debug(message);
  }

  @Override
  public void info(String format, Object... args) {
    debug(format, args);
  }
}
