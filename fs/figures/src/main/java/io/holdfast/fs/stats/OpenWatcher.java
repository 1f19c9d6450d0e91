package io.holdfast.fs.stats;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.bpf.OpenRing;
import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.linux.Linux;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts opens on a mount where the kernel opens files without asking the daemon. Counts by thread
 * and file, in batches, also through bind mounts of containers. Opens of the daemon itself and of
 * control files do not count. Begins with fanotify, which tells opens from the first one on, and
 * goes over to a program in the kernel once there is one ({@link #goOver}), because that costs
 * those who open less.
 *
 * <p>Opens wait in the kernel's memory until they are counted. If too many wait, because for long
 * they come faster than the watcher counts them, or because the daemon is stopped, some are left
 * out; see {@link #overflows()}.
 *
 * <p>Each event of fanotify brings an open descriptor of the own mount, so the watcher runs on an
 * isolated thread. Thread-safe.
 */
public final class OpenWatcher implements AutoCloseable {
  /**
   * The most buffers in a batch, so that the opens of a thread that never rests are counted too.
   */
  private static final int MOST_BUFFERS = 16;

  private static final long BATCH_NANOS = Duration.ofMillis(2).toNanos();
  private static final int IDLE_MILLIS = 10;

  private static final long FLUSH_NANOS = Duration.ofMillis(200).toNanos();

  private final IsolatedThreads thread;
  private final Activity activity;
  private final AtomicReference<@Nullable GoingOver> wanted = new AtomicReference<>();
  private volatile boolean closed;
  private volatile boolean running;
  private volatile long passes;
  private volatile long overflows;

  /** Null until it is prepared. Only the watcher's thread uses what it leads to. */
  private volatile @Nullable FanotifyOpens fanotify;

  private volatile boolean byProgram;

  /** Those of fanotify, once a program tells the opens. */
  private long overflowsBefore;

  /** What the watcher is to go over to, and who is told whether it has. */
  private record GoingOver(Program program, Consumer<@Nullable Throwable> then) {}

  /** A program that is still to be given to the kernel. */
  @FunctionalInterface
  public interface Program {
    /** Has it tell opens from now on; called by the thread that reads the ring. */
    OpenRing begin() throws FsException;
  }

  /**
   * Prepares to watch.
   *
   * @param thread one isolated thread, which belongs to the watcher from now on
   * @param activity counts the opens
   */
  public OpenWatcher(IsolatedThreads thread, Activity activity) {
    this.thread = thread;
    this.activity = activity;
  }

  /**
   * Finds out whether this process may watch, and prepares for it; to be called before the mount.
   */
  public boolean prepare() throws FsException {
    int group = onThread(FanotifyOpens::makeGroup);
    if (group < 0) {
      return false;
    }
    fanotify = new FanotifyOpens(thread, group);
    return true;
  }

  /**
   * Begins to watch the filesystem of the mount; the watcher has to be prepared.
   *
   * @param opener opens the mount's root: returns a descriptor, or a negative errno
   */
  public void watch(IntSupplier opener) throws FsException {
    FanotifyOpens prepared = Objects.requireNonNull(fanotify);
    int errno = onThread(() -> prepared.begin(opener));
    if (errno != 0) {
      throw Linux.failure(errno, "watching opens");
    }
    running = true;
    thread.execute(() -> run(prepared));
  }

  /**
   * Goes over from fanotify to a program in the kernel, at the next pass. Each open is counted once
   * all the same. Without the program, goes on with fanotify.
   *
   * @param then called by the watcher's thread when it has gone over, with null; or with the reason
   *     why it has not
   */
  public void goOver(Program program, Consumer<@Nullable Throwable> then) {
    wanted.set(new GoingOver(program, then));
  }

  private int onThread(Supplier<Integer> call) throws FsException {
    CompletableFuture<Integer> result = new CompletableFuture<>();
    thread.execute(() -> result.complete(call.get()));
    try {
      return result.get(5, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new FsException(FsError.UNAVAILABLE, "the open watcher did not start", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new FsException(FsError.UNAVAILABLE, "interrupted", e);
    }
  }

  private void run(FanotifyOpens first) {
    OpenSource source = first;
    Map<Integer, OpenBatch> batch = new HashMap<>();
    try {
      while (!closed) {
        GoingOver next = wanted.getAndSet(null);
        try {
          if (next != null && source == first) {
            source = goOver(first, next);
          }
          pass(source, batch);
        } catch (Throwable e) { // a watcher that ended here would never count an open again
          thread.failed(e);
        }
      }
    } finally {
      running = false;
      source.close();
    }
  }

  /** Returns the source to go on with. */
  private OpenSource goOver(FanotifyOpens before, GoingOver wanted) {
    RingOpens after;
    try {
      after = new RingOpens(wanted.program.begin());
    } catch (Throwable e) {
      wanted.then.accept(e);
      return before;
    }
    byProgram = true;
    try {
      // from here on, the ring has every open; fanotify has those before, and some of the ring's
      before.end();
      Map<Integer, OpenBatch> told = new HashMap<>();
      boolean more = true;
      while (more) {
        more = before.take(told);
      }
      Map<Integer, OpenBatch> ringed = new HashMap<>();
      boolean unused = after.take(ringed);
      told.forEach(
          (opener, opens) -> {
            OpenBatch again = ringed.get(opener);
            count(opener, again == null ? opens : opens.without(again));
          });
      ringed.forEach(this::count);
      overflowsBefore = before.overflows();
      wanted.then.accept(null);
    } catch (Throwable e) {
      thread.failed(e);
    } finally {
      before.close();
    }
    return after;
  }

  /** Waits a short time for opens, and counts them. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
  private void pass(OpenSource source, Map<Integer, OpenBatch> batch) {
    boolean unused = source.await(IDLE_MILLIS);
    activity.settle();
    boolean more = true;
    for (int i = 0; i < MOST_BUFFERS && more; i++) {
      more = source.take(batch);
    }
    boolean some = !batch.isEmpty();
    batch.forEach(this::count);
    batch.clear();
    // not before: if a caller sees it, opens are counted from now on
    overflows = overflowsBefore + source.overflows();
    if (!more) {
      passes++;
    }
    if (some && !more) {
      // a short wait, so that the next events come together; not longer, because /proc has
      // nothing of a thread that has ended
      LockSupport.parkNanos(BATCH_NANOS);
    }
  }

  /** Counts the opens of a thread. A failure keeps no other opens from being counted. */
  private void count(int opener, OpenBatch opens) {
    try {
      if (opens.count() > 0) {
        activity.opened(opener, opens);
      }
    } catch (Throwable e) {
      thread.failed(e);
    }
  }

  /** Waits, for a short and bounded time, until every open before the call has been counted. */
  public void flush() {
    long end = System.nanoTime() + FLUSH_NANOS;
    // the pass under way may be past the newest event; the one after it is not
    long until = passes + 2;
    while (running && passes < until && System.nanoTime() < end) {
      LockSupport.parkNanos(BATCH_NANOS / 10);
    }
  }

  /** Returns the number of times that opens were left out, because too many waited. */
  public long overflows() {
    return overflows;
  }

  /** Tells whether a program in the kernel tells the opens; else fanotify does. */
  public boolean isByProgram() {
    return byProgram;
  }

  /** Tells whether opens are being counted. */
  public boolean isRunning() {
    return running;
  }

  @Override
  public void close() {
    closed = true;
    thread.close();
  }
}
