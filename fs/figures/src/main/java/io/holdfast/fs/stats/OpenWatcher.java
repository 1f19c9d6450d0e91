package io.holdfast.fs.stats;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.ControlInodes;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * Counts opens with fanotify, on a mount where the kernel opens files without asking the daemon.
 * Counts by thread and file, in batches, also through bind mounts of containers. Opens of the
 * daemon itself and of control files do not count. The kernel merges two opens of one file by one
 * thread within a batch, so these count once.
 *
 * <p>The kernel keeps opens in its memory until they are read. Too many may wait there, if for long
 * they come faster than the watcher counts them, or if the daemon is stopped. The watcher then
 * drops those that wait without counting them; see {@link #overflows()}. It does not use the
 * kernel's own bound, which is so low that a quick reader reaches it.
 *
 * <p>Each event brings an open descriptor of the own mount, so the watcher runs on an isolated
 * thread. Thread-safe.
 */
public final class OpenWatcher implements AutoCloseable {
  private static final int FAN_CLOEXEC = 1;
  private static final int FAN_NONBLOCK = 2;
  private static final int FAN_UNLIMITED_QUEUE = 0x10;

  /** With this flag, opens of one file by two threads of a process are two events. */
  private static final int FAN_REPORT_TID = 0x100;

  private static final int FAN_MARK_ADD = 1;
  private static final int FAN_MARK_FILESYSTEM = 0x100;
  private static final long FAN_OPEN = 0x20;

  /**
   * struct fanotify_event_metadata: 0 event_len u32, 8 mask u64, 16 fd i32, 20 pid i32 (the
   * thread's id).
   */
  private static final int EVENT_FD = 16;

  private static final int EVENT_THREAD = 20;
  private static final int EVENT_SIZE = 24;
  private static final int BUFFER = 64 << 10;

  /**
   * The most buffers in a batch, so that the opens of a thread that never rests are counted too.
   */
  private static final int MOST_BUFFERS = 16;

  /** The most opens that may wait, in some 20 MB of the kernel's memory; fewer for a test. */
  private static final long MOST_WAITING = Long.getLong("holdfast.most-waiting-opens", 1 << 18);

  private static final long FIONREAD = 0x541b;

  /** Asks for the attributes that the kernel knows, without a request to the daemon. */
  private static final int AT_STATX_DONT_SYNC = 0x4000;

  private static final int STATX_INO = 0x100;
  private static final int STATX_SIZE = 0x200;
  private static final int STATX_INO_OFFSET = 32;
  private static final int STATX_SIZE_OFFSET = 40;
  private static final long BATCH_NANOS = Duration.ofMillis(2).toNanos();
  private static final int IDLE_MILLIS = 10;

  private static final long FLUSH_NANOS = Duration.ofMillis(200).toNanos();

  private final IsolatedThreads thread;
  private final Activity activity;
  private volatile int group = -1;
  private volatile boolean closed;
  private volatile boolean running;
  private volatile long passes;
  private volatile long overflows;
  private IntSupplier opener = () -> -1;

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
    int made = onThread(OpenWatcher::makeGroup);
    group = made;
    return made >= 0;
  }

  /**
   * Begins to watch the filesystem of the mount.
   *
   * @param opener opens the mount's root: returns a descriptor, or a negative errno
   */
  public void watch(IntSupplier opener) throws FsException {
    int errno =
        onThread(
            () -> {
              this.opener = opener;
              return mark(group, opener);
            });
    if (errno != 0) {
      throw Linux.failure(errno, "watching opens");
    }
    running = true;
    thread.execute(this::run);
  }

  private static int makeGroup() {
    return LIBC.fanotify_init(
        FAN_CLOEXEC | FAN_NONBLOCK | FAN_UNLIMITED_QUEUE | FAN_REPORT_TID,
        Linux.O_RDONLY | Linux.O_CLOEXEC);
  }

  /** Watches a filesystem; returns 0 or a positive errno. */
  private static int mark(int group, IntSupplier opener) {
    int root = opener.getAsInt();
    if (root < 0) {
      return -root;
    }
    long text = Linux.scratch().path();
    Memory.putString(text, Linux.pathBytes(Linux.descriptorPath(root)));
    int result =
        LIBC.fanotify_mark(
            group, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_OPEN, Linux.AT_FDCWD, text);
    int errno = result == 0 ? 0 : Linux.errno();
    LIBC.close(root);
    return errno;
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

  private void run() {
    long buffer = LIBC.malloc(BUFFER + Integer.BYTES);
    Map<Integer, OpenBatch> batch = new HashMap<>();
    try {
      while (!closed) {
        try {
          pass(buffer, batch);
        } catch (Throwable e) { // a watcher that ended here would never count an open again
          thread.failed(e);
        }
      }
    } finally {
      running = false;
      LIBC.free(buffer);
      LIBC.close(group);
    }
  }

  /** Waits a short time for opens, and counts them. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
  private void pass(long buffer, Map<Integer, OpenBatch> batch) {
    boolean unused = Linux.awaitReadable(group, IDLE_MILLIS);
    activity.settle();
    boolean more = true;
    for (int i = 0; i < MOST_BUFFERS && more; i++) {
      long length = LIBC.read(group, buffer, BUFFER);
      more = length > 0;
      if (length > BUFFER - EVENT_SIZE && waiting(buffer + BUFFER) > MOST_WAITING) {
        letGo();
      }
      take(buffer, length, batch);
    }
    boolean some = !batch.isEmpty();
    batch.forEach(this::count);
    batch.clear();
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
      activity.opened(opener, opens);
    } catch (Throwable e) {
      thread.failed(e);
    }
  }

  /** Returns the number of opens that wait to be read. Needs memory for a number. */
  private long waiting(long number) {
    Memory.putInt(number, 0);
    return LIBC.ioctl(group, FIONREAD, number) == 0 ? Memory.getInt(number) / EVENT_SIZE : 0;
  }

  /**
   * Drops the opens that wait, by watching with a new group. If there is no new group, goes on with
   * the old one.
   */
  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
  private void letGo() {
    int fresh = makeGroup();
    if (fresh < 0) {
      return;
    }
    if (mark(fresh, opener) == 0) {
      LIBC.close(group);
      group = fresh;
      overflows++; // last: a caller who sees it knows that opens are counted from now on
    } else {
      LIBC.close(fresh);
    }
  }

  private void take(long buffer, long length, Map<Integer, OpenBatch> batch) {
    for (long at = buffer; at < buffer + length; at += Memory.getInt(at)) {
      int fd = Memory.getInt(at + EVENT_FD);
      int opener = Memory.getInt(at + EVENT_THREAD);
      if (fd >= 0) {
        try {
          take(fd, opener, batch);
        } catch (Throwable e) { // the events behind this one have descriptors, too
          thread.failed(e);
        } finally {
          LIBC.close(fd);
        }
      }
    }
  }

  /**
   * Adds an open to a batch. The inode number names the file; it is the origin's. {@link
   * ControlInodes Control files} do not count.
   */
  private static void take(int fd, int thread, Map<Integer, OpenBatch> batch) {
    long area = Linux.scratch().area();
    long path = Linux.scratch().path();
    Memory.putByte(path, 0);
    int flags = Linux.AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
    boolean known = LIBC.statx(fd, path, flags, STATX_INO | STATX_SIZE, area) == 0;
    long inode = known ? Memory.getLong(area + STATX_INO_OFFSET) : 0;
    if (!ControlInodes.has(inode)) {
      long size = known ? Memory.getLong(area + STATX_SIZE_OFFSET) : 0;
      batch.computeIfAbsent(thread, id -> new OpenBatch()).add(inode, size);
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

  /**
   * Returns the number of times that the watcher dropped waiting opens, because they were too many.
   */
  public long overflows() {
    return overflows;
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
