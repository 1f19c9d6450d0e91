package io.holdfast.fs.daemon;

import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.linux.NamedThreads;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Threads that end when there is nothing to do, and lose no task: where no thread can be started,
 * the task runs after a later call of {@link #startLeft}. Thread-safe.
 */
final class PatientThreads implements Executor, AutoCloseable {
  private static final int IDLE_SECONDS = 10;

  private final BlockingQueue<Runnable> left = new LinkedBlockingQueue<>();
  private final ThreadPoolExecutor threads;

  PatientThreads(String name, int most) {
    this(most, new NamedThreads(name));
  }

  PatientThreads(int most, ThreadFactory factory) {
    threads = new ThreadPoolExecutor(most, most, IDLE_SECONDS, TimeUnit.SECONDS, left, factory);
    threads.allowCoreThreadTimeOut(true);
  }

  /**
   * Runs a task on one of the threads. Logs nothing, so that an isolated thread may call it.
   *
   * @throws java.util.concurrent.RejectedExecutionException after {@link #close}
   */
  @Override
  public void execute(Runnable task) {
    try {
      threads.execute(task);
    } catch (OutOfMemoryError e) { // startLeft tells, unless there are threads by then
      if (!left.contains(task)) {
        left.add(task);
      }
    }
  }

  /** Starts a thread for tasks that are left, if one can be had by now. */
  void startLeft() {
    if (!left.isEmpty()) {
      try {
        boolean unused = threads.prestartCoreThread();
      } catch (OutOfMemoryError e) {
        OutOfMemory.tell(e);
      }
    }
  }

  /** Interrupts what runs, and drops what is left. */
  @Override
  public void close() {
    threads.shutdownNow();
  }
}
