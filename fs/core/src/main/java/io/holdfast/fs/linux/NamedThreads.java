package io.holdfast.fs.linux;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the threads of this program. They have a name, do not keep the process from ending, and log
 * their failures. Thread-safe.
 */
public final class NamedThreads implements ThreadFactory {
  private static final Logger log = LoggerFactory.getLogger(NamedThreads.class);

  private final String name;
  private final AtomicInteger made = new AtomicInteger();

  /** Makes threads for a pool: they have that name and a number. */
  public NamedThreads(String name) {
    this.name = name;
  }

  @Override
  public Thread newThread(Runnable task) {
    return named(name + "-" + made.incrementAndGet(), task);
  }

  /** Returns a thread that has not started yet. */
  public static Thread named(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.setUncaughtExceptionHandler(NamedThreads::logFailure);
    return thread;
  }

  /** Starts a thread. */
  public static Thread start(String name, Runnable task) {
    Thread thread = named(name, task);
    thread.start();
    return thread;
  }

  /** Logs the failure of a thread. */
  public static void logFailure(Thread thread, Throwable failure) {
    log.error("thread {} failed", thread.getName(), failure);
  }
}
