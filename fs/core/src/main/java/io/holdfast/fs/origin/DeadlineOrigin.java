package io.holdfast.fs.origin;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * An origin whose calls end by a deadline, around an origin that may hang. Each call runs on a
 * thread of an executor and is given up when it takes too long. The executor bounds the number of
 * stuck threads, and rejects further calls at once when all threads are stuck. {@link #open} and
 * reads of the file have no deadline here: they run on the threads of fetches, which have their own
 * deadline.
 *
 * <p>A part of an origin may hang while the rest answers, such as a file system that is mounted
 * inside. Scans come back to it again and again, so they have threads of their own, and while a
 * listing of a directory hangs, further ones of it fail at once.
 *
 * <p>While the origin does not answer at all, every call fails at once: see {@link OriginBreaker}.
 */
public final class DeadlineOrigin implements Origin {
  private static final long FIRST_WAIT_NANOS = Duration.ofMillis(1).toNanos();
  private static final long LONGEST_WAIT_NANOS = Duration.ofMillis(32).toNanos();

  private final Origin origin;
  private final Threads callThreads;
  private final Threads scanThreads;

  /** Directories with a listing that was given up and has not returned. */
  private final Set<OriginPath> hanging = ConcurrentHashMap.newKeySet();

  private final Duration deadline;
  private final OriginBreaker breaker;

  /**
   * Wraps an origin.
   *
   * @param threads bounded in number; rejects a call without a free thread; closed with this origin
   * @param scanThreads likewise, for the listings of scans
   * @param deadline longest duration of a call
   * @param breaker knows whether the origin answers
   */
  public DeadlineOrigin(
      Origin origin,
      ThreadPoolExecutor threads,
      ThreadPoolExecutor scanThreads,
      Duration deadline,
      OriginBreaker breaker) {
    this.origin = origin;
    callThreads = new Threads(threads);
    this.scanThreads = new Threads(scanThreads);
    this.deadline = deadline;
    this.breaker = breaker;
  }

  /** Threads that run calls, and how many of them are stuck in calls that were given up. */
  private static final class Threads {
    final ThreadPoolExecutor executor;
    final AtomicInteger stuck = new AtomicInteger();

    Threads(ThreadPoolExecutor executor) {
      this.executor = executor;
    }

    boolean areAllStuck() {
      return stuck.get() >= executor.getMaximumPoolSize();
    }
  }

  /** A call that may be given up while it runs, and returns later or never. */
  private static class Call<T> implements Callable<T> {
    private final Threads threads;
    private final Callable<T> call;
    private boolean over;
    private boolean givenUp;

    Call(Threads threads, Callable<T> call) {
      this.threads = threads;
      this.call = call;
    }

    @Override
    public T call() throws Exception {
      try {
        return call.call();
      } finally {
        end(false);
      }
    }

    /** Ends the call. A call that was given up counts as stuck until it returns. */
    synchronized void end(boolean giveUp) {
      if (giveUp && !over) {
        givenUp = true;
        threads.stuck.incrementAndGet();
        hangs();
      } else if (!giveUp) {
        over = true;
        if (givenUp) {
          threads.stuck.decrementAndGet();
          answers();
        }
      }
    }

    /** Called when the call is given up. */
    void hangs() {}

    /** Called when a call that was given up returns. */
    void answers() {}
  }

  /** A listing of a directory. */
  private final class Listing extends Call<Boolean> {
    private final OriginPath directory;

    Listing(Threads threads, OriginPath directory, Callable<Boolean> call) {
      super(threads, call);
      this.directory = directory;
    }

    @Override
    void hangs() {
      hanging.add(directory);
    }

    @Override
    void answers() {
      hanging.remove(directory);
    }
  }

  private <T> T bounded(OriginPath path, OriginBreaker.Call<T> asked) throws FsException {
    breaker.require(path);
    long end = System.nanoTime() + deadline.toNanos();
    Call<T> call = new Call<>(callThreads, () -> breaker.ask(asked));
    return await(path, call, submit(path, call, end), end);
  }

  private <T> T await(OriginPath path, Call<T> call, Future<T> answer, long end)
      throws FsException {
    try {
      return answer.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof FsException failure) {
        throw failure;
      }
      throw new FsException(FsError.IO, path + ": " + e.getCause(), e);
    } catch (TimeoutException | InterruptedException e) {
      throw failure(path, call, e);
    }
  }

  /** Gives a call up and returns the failure. */
  private FsException failure(OriginPath path, Call<?> call, Exception why) {
    call.end(true);
    if (why instanceof InterruptedException) {
      Thread.currentThread().interrupt();
      return new FsException(FsError.IO, path + ": interrupted", why);
    }
    return new FsException(
        FsError.TIMED_OUT, path + ": the origin did not answer within " + deadline, why);
  }

  /**
   * Submits a call. A busy origin does not hang, so a call waits for a thread unless all threads
   * are stuck.
   */
  private <T> Future<T> submit(OriginPath path, Call<T> call, long end) throws FsException {
    for (long wait = FIRST_WAIT_NANOS; ; wait = Math.min(2 * wait, LONGEST_WAIT_NANOS)) {
      try {
        return call.threads.executor.submit(call);
      } catch (RejectedExecutionException e) {
        breaker.require(path);
        if (call.threads.areAllStuck() || System.nanoTime() >= end) {
          throw new FsException(
              FsError.TIMED_OUT, path + ": the origin hangs, and too many calls wait for it", e);
        }
        LockSupport.parkNanos(wait);
      }
    }
  }

  @Override
  public String describe() {
    return origin.describe();
  }

  @Override
  public String identity() throws FsException {
    return bounded(OriginPath.ROOT, origin::identity);
  }

  @Override
  public boolean mayHang() {
    return origin.mayHang();
  }

  @Override
  public boolean mayHaveAcls() {
    return origin.mayHaveAcls();
  }

  @Override
  public void probe() throws FsException {
    origin.probe(); // the thread that probes can be given up
  }

  @Override
  public OriginHealth health() {
    return breaker.health();
  }

  @Override
  public void watch() {
    breaker.tick();
  }

  @Override
  public Attributes stat(OriginPath path) throws FsException {
    return bounded(path, () -> origin.stat(path));
  }

  @Override
  public void sync(OriginPath path) throws FsException {
    boolean unused =
        bounded(
            path,
            () -> {
              origin.sync(path);
              return true;
            });
  }

  @Override
  public Attributes stat(OriginPath path, @Nullable Attributes known) throws FsException {
    return bounded(path, () -> origin.stat(path, known));
  }

  @Override
  public Found find(
      OriginPath directory, byte[] name, List<Attributes> way, @Nullable Attributes known)
      throws FsException {
    return bounded(directory, () -> origin.find(directory, name, way, known));
  }

  @Override
  public byte[] readLink(OriginPath path, Attributes known) throws FsException {
    return bounded(path, () -> origin.readLink(path, known));
  }

  /**
   * Gives each batch a deadline of its own: a large directory on a slow store takes long without
   * hanging.
   */
  @Override
  public void list(OriginPath path, EntrySink sink) throws FsException {
    list(path, sink, callThreads);
  }

  private void list(OriginPath path, EntrySink sink, Threads threads) throws FsException {
    breaker.require(path);
    if (hanging.contains(path)) {
      throw new FsException(
          FsError.TIMED_OUT,
          path
              + ": an earlier listing of this directory still hangs; fix, if its file system was"
              + " mounted anew: 'holdfast restart'");
    }
    ListedBatches batches = new ListedBatches(deadline);
    Call<Boolean> call =
        new Listing(
            threads,
            path,
            () -> batches.fill(sink, to -> breaker.run(() -> origin.list(path, to))));
    Future<Boolean> answer = submit(path, call, System.nanoTime() + deadline.toNanos());
    try {
      while (batches.pass(sink)) {
        // the next batch has as long again
      }
    } catch (InterruptedException | TimeoutException e) {
      batches.abandon();
      throw failure(path, call, e);
    } catch (FsException | RuntimeException | Error e) {
      batches.abandon(); // the sink wants no more entries
      throw e;
    }
    await(path, call, answer, System.nanoTime() + deadline.toNanos());
  }

  @Override
  public long quietNanos(Version version) {
    return origin.quietNanos(version);
  }

  @Override
  public OriginFile open(OriginPath path, Part part) throws FsException {
    breaker.require(path);
    return new WatchedFile(breaker.ask(() -> origin.open(path, part)), breaker);
  }

  /** A file whose reads show that the origin answers. */
  private record WatchedFile(OriginFile file, OriginBreaker breaker) implements OriginFile {
    @Override
    public Version version() throws FsException {
      return breaker.ask(file::version);
    }

    @Override
    public Version storedVersion() throws FsException {
      return breaker.ask(file::storedVersion);
    }

    @Override
    public int read(long offset, long address, int length) throws FsException {
      return breaker.askForBytes(() -> file.read(offset, address, length));
    }

    @Override
    public void discard(long offset, long length) {
      file.discard(offset, length);
    }

    @Override
    public void close() {
      file.close();
    }
  }

  @Override
  public boolean hasDirectories() {
    return origin.hasDirectories();
  }

  /** Lists each directory by {@link #list}, so that one that hangs does not hold up the scan. */
  @Override
  public void scan(OriginPath directory, Executor executor, ScanSink sink) throws FsException {
    if (hasDirectories()) {
      DirectoryWalk.Lister lister = (path, entries) -> list(path, entries, scanThreads);
      new DirectoryWalk(lister, executor, sink).walk(directory);
    } else {
      origin.scan(directory, executor, sink);
    }
  }

  @Override
  public byte[] extendedAttribute(OriginPath path, Attributes known, byte[] name)
      throws FsException {
    return bounded(path, () -> origin.extendedAttribute(path, known, name));
  }

  @Override
  public byte[] extendedAttributeNames(OriginPath path, Attributes known) throws FsException {
    return bounded(path, () -> origin.extendedAttributeNames(path, known));
  }

  @Override
  public StoreFigures figures() throws FsException {
    return bounded(OriginPath.ROOT, origin::figures);
  }

  @Override
  public void close() {
    callThreads.executor.shutdown();
    scanThreads.executor.shutdown();
    origin.close();
  }
}
