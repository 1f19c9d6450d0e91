package io.holdfast.fs.linux;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Threads with a descriptor table of their own, for everything that touches the own mount. A thread
 * that waits for its own daemon must not hold /dev/fuse. If the process were killed in that moment,
 * the descriptor would stay open in the waiting thread, and mount and process would hang for ever.
 * So these threads start before the mount, and leave the common table at once.
 *
 * <p>A task opens its own descriptors and uses no others: no logging, no Java I/O. A thread that a
 * task starts, such as one of a pool, has the common table: {@link NamedThreads}. All jars of the
 * class path are opened before the first thread starts, so that a class loaded here comes through a
 * descriptor that every table has.
 */
public final class IsolatedThreads implements Executor, AutoCloseable {
  private static final int CLONE_FILES = 0x400;
  private static final int O_RDWR = 2;

  /** With the id 0: the calling thread alone. */
  private static final int PRIO_PROCESS = 0;

  private static final int STANDARD_STREAMS = 3;

  /** Starts what isolated threads start: it has the common table. */
  private static final LinkedBlockingQueue<Start> STARTS = new LinkedBlockingQueue<>();

  static {
    NamedThreads.start("start", IsolatedThreads::startAll);
  }

  /** A thread to be started. */
  private static final class Start extends FutureTask<@Nullable Void> {
    Start(Runnable start) {
      super(start, null);
    }
  }

  /** Ends the thread that takes it. */
  private static final Runnable END =
      new Runnable() {
        @Override
        public void run() {}
      };

  /**
   * Failures of tasks, for a thread that can log. Keeps the last failure of each thread until it is
   * taken. Thread-safe.
   */
  public static final class Failures {
    private final ConcurrentHashMap<String, AtomicReference<@Nullable Throwable>> byThread =
        new ConcurrentHashMap<>();

    private AtomicReference<@Nullable Throwable> of(Thread thread) {
      return byThread.computeIfAbsent(thread.getName(), name -> new AtomicReference<>());
    }

    /** Passes each failure, with the name of its thread, and forgets it. */
    public void take(BiConsumer<String, Throwable> taker) {
      byThread.forEach(
          (thread, last) -> {
            Throwable failure = last.getAndSet(null);
            if (failure != null) {
              taker.accept(thread, failure);
            }
          });
    }
  }

  private final Failures failures;
  private final LinkedBlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean closed;

  private IsolatedThreads(Failures failures) {
    this.failures = failures;
  }

  /**
   * Starts the threads; to be called before /dev/fuse is opened.
   *
   * @param nice the niceness of the threads, as in nice(1)
   * @param failures takes the failures of tasks
   * @param without open descriptors that the threads must not have
   * @throws FsException if a thread cannot leave the common descriptor table
   */
  public static IsolatedThreads start(
      String name, int count, int nice, Failures failures, int... without) throws FsException {
    openAllJars();
    IsolatedThreads started = new IsolatedThreads(failures);
    CountDownLatch ready = new CountDownLatch(count);
    AtomicInteger errno = new AtomicInteger();
    for (int i = 0; i < count; i++) {
      Thread thread =
          NamedThreads.named(name + "-" + i, () -> started.run(nice, without, ready, errno));
      started.threads.add(thread);
      thread.start();
    }
    try {
      if (!ready.await(10, TimeUnit.SECONDS)) {
        throw new FsException(FsError.UNAVAILABLE, "threads did not start");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new FsException(FsError.UNAVAILABLE, "interrupted", e);
    }
    if (errno.get() != 0) {
      started.close();
      throw Linux.failure(errno.get(), "unshare(CLONE_FILES), needed to pin safely");
    }
    return started;
  }

  private static void startAll() {
    while (true) {
      try {
        STARTS.take().run();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  /**
   * Starts a thread so that it has the common descriptor table.
   *
   * @throws OutOfMemoryError where no thread can be started
   */
  static void startOutside(Runnable start) {
    Start wanted = new Start(start);
    STARTS.add(wanted);
    boolean interrupted = false;
    try {
      while (true) {
        try {
          wanted.get();
          return;
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          if (e.getCause() instanceof OutOfMemoryError failure) {
            throw failure;
          }
          throw new IllegalStateException("the thread did not start", e);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void run(int nice, int[] without, CountDownLatch ready, AtomicInteger errno) {
    if (LIBC.unshare(CLONE_FILES) != 0) {
      errno.set(Linux.errno());
      ready.countDown();
      return;
    }
    NamedThreads.isolateCurrent();
    leaveStandardStreams();
    for (int fd : without) {
      LIBC.close(fd);
    }
    LIBC.setpriority(PRIO_PROCESS, 0, nice);
    AtomicReference<@Nullable Throwable> failure = failures.of(Thread.currentThread());
    ready.countDown();
    try {
      for (Runnable task = tasks.take(); task != END; task = tasks.take()) {
        try {
          task.run();
        } catch (Throwable e) { // a thread that ends here would end the pinning
          failure.set(e);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Closes the standard streams: a program that reads the daemon's output then sees its end when
   * the daemon closes it, not when this thread ends.
   */
  private static void leaveStandardStreams() {
    long path = Linux.scratch().path();
    Memory.putString(path, Linux.pathBytes("/dev/null"));
    int none = LIBC.openat(Linux.AT_FDCWD, path, O_RDWR | Linux.O_CLOEXEC, 0);
    for (int fd = 0; none >= 0 && fd < STANDARD_STREAMS; fd++) {
      LIBC.dup2(none, fd);
    }
    LIBC.close(none);
  }

  /** A jar is opened when the first class is looked for in it or behind it. */
  private static void openAllJars() {
    try {
      Enumeration<URL> all =
          IsolatedThreads.class.getClassLoader().getResources("META-INF/MANIFEST.MF");
      while (all.hasMoreElements()) {
        all.nextElement();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Runs a task on one of the threads, in the order of the calls. */
  @Override
  public void execute(Runnable task) {
    if (closed) {
      throw new RejectedExecutionException("closed");
    }
    tasks.add(task);
  }

  /** Records a failure of the task that runs on the calling thread, and that goes on. */
  public void failed(Throwable failure) {
    failures.of(Thread.currentThread()).set(failure);
  }

  /** Returns the number of tasks that wait. */
  public int waiting() {
    return tasks.size();
  }

  /**
   * Drops the tasks that wait, and ends each thread after its current task; does not wait for that.
   */
  @Override
  public void close() {
    closed = true;
    tasks.clear();
    threads.forEach(thread -> tasks.add(END));
  }
}
