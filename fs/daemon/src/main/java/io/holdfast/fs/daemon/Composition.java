package io.holdfast.fs.daemon;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.mount.Binding;
import io.holdfast.fs.mount.jnr.JnrBinding;
import io.holdfast.fs.mount.kernel.KernelBinding;
import io.holdfast.fs.origin.DeadlineOrigin;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.OriginBreaker;
import io.holdfast.fs.origin.posix.PosixOrigin;
import io.holdfast.fs.origin.s3.S3Origin;
import io.holdfast.fs.origin.s3.S3Settings;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.Source;
import io.holdfast.fs.transit.AdaptiveFetchers;
import io.holdfast.fs.transit.Fetchers;
import io.holdfast.fs.transit.PlainFetchers;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Chooses the threads of the daemon's parts, and their origin. */
final class Composition {
  /** Threads that may be stuck in an origin that hangs. */
  private static final int METADATA_THREADS = 32;

  private static final int PROBE_THREADS = 16;
  private static final int POOL_THREADS = 64;
  private static final int CHANGED_THREADS = 2;
  private static final int REPLIED_THREADS = 2;
  private static final int PREFETCH_THREADS = 4;
  private static final int PREFETCH_QUEUE = 16;
  private static final int SCAN_THREADS = 16;

  /** Some listings of scans may hang: more threads than list at the same time. */
  private static final int LISTING_THREADS = 2 * SCAN_THREADS;

  /** Two, so that one can work while the other waits for the kernel. */
  private static final int PIN_THREADS = 2;

  /** The niceness of threads that pin: a pin can wait, but readers cannot. */
  private static final int GIVE_WAY = 10;

  private static final int IDLE_SECONDS = 10;

  private static final RejectedExecutionHandler REFUSE = new ThreadPoolExecutor.AbortPolicy();

  private Composition() {}

  /**
   * Opens the dataset.
   *
   * @param supervision has the directory open, which the mount may cover by now
   */
  static Origin origin(Settings settings, @Nullable Supervision supervision) throws FsException {
    Origin origin =
        settings.s3().isPresent()
            ? objects(settings.s3().get(), supervision)
            : directory(((Source.Directory) settings.get(SettingTable.SOURCE)).path(), supervision);
    return origin.mayHang() ? bounded(origin, settings) : origin;
  }

  private static Origin objects(S3Settings store, @Nullable Supervision supervision)
      throws FsException {
    boolean goesOn = supervision != null && supervision.takesOver();
    return goesOn ? S3Origin.reopen(store) : S3Origin.open(store);
  }

  private static Origin directory(Path directory, @Nullable Supervision supervision)
      throws FsException {
    PosixOrigin origin =
        supervision == null
            ? PosixOrigin.open(directory, InstantSource.system())
            : PosixOrigin.open(supervision.origin(), directory, InstantSource.system());
    if (supervision == null || !supervision.takesOver()) {
      requirePlace(origin);
    }
    return origin;
  }

  private static void requirePlace(PosixOrigin origin) throws FsException {
    try {
      origin.requirePlace();
    } catch (FsException e) {
      origin.close();
      throw e;
    }
  }

  /**
   * Bounds the calls of an origin by a deadline. Uses fewer threads than answer requests, so that
   * some of these are left when the origin hangs.
   */
  private static Origin bounded(Origin origin, Settings settings) {
    OriginBreaker breaker =
        new OriginBreaker(
            origin.describe(),
            origin::probe,
            settings.get(SettingTable.SOURCE_TIMEOUT),
            pool("origin-probe", PROBE_THREADS),
            System::nanoTime);
    return new DeadlineOrigin(
        origin,
        refusing("origin", METADATA_THREADS),
        refusing("origin-scan", LISTING_THREADS),
        settings.callDeadline(),
        breaker);
  }

  /** Returns threads that refuse a task when all of them are busy. */
  private static ThreadPoolExecutor refusing(String name, int most) {
    return new ThreadPoolExecutor(
        0,
        most,
        IDLE_SECONDS,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        new NamedThreads(name),
        REFUSE);
  }

  /**
   * Creates the threads of fetches. If the origin cannot hang, a fetch runs on the thread of its
   * first reader, because a hand-over costs as much as the fetch of a small file. Otherwise the
   * reader must be able to give up the fetch, and the number of fetches at once adapts to the
   * origin.
   *
   * @param mayWait whether the origin may hang
   * @param transitBytes memory for fetched bytes; large items leave a part of it to small ones
   */
  static Fetchers fetchers(boolean mayWait, long transitBytes) {
    return mayWait
        ? new AdaptiveFetchers(
            new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE, // the fetchers bound the number themselves
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                new NamedThreads("fetch")),
            transitBytes - transitBytes / 4)
        : new PlainFetchers(Runnable::run, prefetchers());
  }

  /** Creates the threads for steps of fetches that had to wait: no step is lost. */
  static PatientThreads steps() {
    return new PatientThreads("transit", POOL_THREADS);
  }

  static Executor pool(String name) {
    return pool(name, POOL_THREADS);
  }

  /**
   * Creates the threads that look changed files up again, and tell the kernel. Housekeeping does
   * not do that: it ends waits for the origin, so it must not wait for the origin itself.
   */
  static PatientThreads lookers() {
    return new PatientThreads("changed", CHANGED_THREADS);
  }

  /**
   * Creates the threads that wait for replies to requests, which may take as long as the origin.
   */
  static PatientThreads waiters() {
    return new PatientThreads("replied", REPLIED_THREADS);
  }

  /**
   * Creates the thread that tells the kernel of names that lead elsewhere by now. It waits for no
   * origin and no reply.
   */
  static PatientThreads teller() {
    return new PatientThreads("tell", 1);
  }

  /** Creates the thread that looks for names that have gone; it may hang in the origin. */
  static Executor sweeper() {
    return pool("names", 1);
  }

  /** Creates the thread that compares datasets with those of peers; it may hang in the origin. */
  static Executor sketcher() {
    return pool("peer-sketch", 1);
  }

  /** Creates the thread that gives the kernel its programs. */
  static Executor helpers() {
    return pool("helpers", 1);
  }

  /** Creates the thread that computes plans. */
  static Executor planner() {
    return pool("plan", 1);
  }

  private static Executor pool(String name, int most) {
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            most,
            most,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            new NamedThreads(name));
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  /**
   * Creates the threads that list the dataset in the background: one a processor, or more if they
   * mostly wait for a store.
   */
  static Executor scanners(boolean askingTakesLong) {
    int processors = Runtime.getRuntime().availableProcessors();
    int most = askingTakesLong ? SCAN_THREADS : Math.min(processors, SCAN_THREADS);
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            most,
            most,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            new NamedThreads("list"));
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  private static Executor prefetchers() {
    ThreadPoolExecutor ahead =
        new ThreadPoolExecutor(
            PREFETCH_THREADS,
            PREFETCH_THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(PREFETCH_QUEUE),
            new NamedThreads("prefetch"),
            REFUSE);
    ahead.allowCoreThreadTimeOut(true);
    return ahead;
  }

  static IsolatedThreads pinners(IsolatedThreads.Failures failures, int... without)
      throws FsException {
    return IsolatedThreads.start("pin", PIN_THREADS, GIVE_WAY, failures, without);
  }

  static IsolatedThreads droppers(IsolatedThreads.Failures failures, int... without)
      throws FsException {
    return IsolatedThreads.start("drop", 1, 0, failures, without);
  }

  static IsolatedThreads watcher(IsolatedThreads.Failures failures, int... without)
      throws FsException {
    return IsolatedThreads.start("watch", 1, 0, failures, without);
  }

  /**
   * Creates the binding. A supervised daemon has the connection to the kernel already.
   *
   * @throws FsException if libfuse 2 is not installed
   */
  static Binding binding(@Nullable Supervision supervision, IsolatedThreads.Failures failures)
      throws FsException {
    return supervision == null
        ? new JnrBinding()
        : new KernelBinding(
            supervision.fuse(),
            supervision.session(),
            supervision.requests(),
            failures,
            supervision.alive());
  }
}
