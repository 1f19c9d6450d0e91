package io.holdfast.fs.linux;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the threads of this program. They have a name, do not keep the process from ending, log
 * their failures, and have the common descriptor table, even if an {@linkplain IsolatedThreads
 * isolated} thread starts them. Thread-safe.
 */
public final class NamedThreads implements ThreadFactory {
  private static final Logger log = LoggerFactory.getLogger(NamedThreads.class);

  /** Whether the current thread has a descriptor table of its own. */
  private static final ThreadLocal<Boolean> ISOLATED = ThreadLocal.withInitial(() -> false);

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
    Thread thread = new NamedThread(task, name);
    thread.setDaemon(true);
    thread.setUncaughtExceptionHandler(NamedThreads::logFailure);
    return thread;
  }

  /**
   * A pool starts a thread from whichever thread brings a task. The kernel gives a thread the
   * descriptor table of the one that starts it, and in an isolated thread's table the number of an
   * origin's file may be that of another file.
   */
  private static final class NamedThread extends Thread {
    NamedThread(Runnable task, String name) {
      super(task, name);
    }

    @Override
    public void start() {
      if (ISOLATED.get()) {
        IsolatedThreads.startOutside(super::start);
      } else {
        super.start();
      }
    }
  }

  /** The current thread has left the common descriptor table. */
  static void isolateCurrent() {
    ISOLATED.set(true);
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
