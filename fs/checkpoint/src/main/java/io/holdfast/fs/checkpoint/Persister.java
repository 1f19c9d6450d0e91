package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.NamedThreads;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import jnr.constants.platform.Errno;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies the operations of a front to the store, in order, on one thread. So the store always
 * shows what the program had done up to some moment.
 *
 * <p>That also holds if the store or this machine crashes, on a file system that keeps the order of
 * its own changes of names: at most one thing in the store is not durable at any time. It is a row
 * of writes to one file that do not overlap, which can be written again. Before anything else
 * changes, that file is synced; and each other operation is synced before the next.
 *
 * <p>Of an operation that was about to be applied when this process was killed, the {@link Cursor}
 * has the number and a witness, by which one sees whether the store has it.
 *
 * <p>A store that fails is asked again, after a pause that doubles up to half a minute, or as soon
 * as somebody waits. Thread-safe.
 */
public final class Persister implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Persister.class);

  /** The most bytes that are not durable: so much is written again after a crash. */
  private static final long LARGEST_WINDOW = 64L << 20;

  /** How long it grows, so that a slow store shows progress. */
  private static final long LONGEST_WINDOW = Duration.ofSeconds(2).toNanos();

  private static final int LARGEST_WRITE = 2 << 20;
  private static final long FIRST_PAUSE = Duration.ofMillis(100).toNanos();
  private static final long LONGEST_PAUSE = Duration.ofSeconds(30).toNanos();

  /** How long nothing must be pending before what was written is synced, if nobody waits. */
  private static final long CALM = Duration.ofMillis(50).toNanos();

  private static final long IDLE = Duration.ofSeconds(1).toNanos();

  private final Front front;
  private final Store store;
  private final double bytesPerSecond;
  private final int keep;
  private final SaveMeter meter;
  private final long buffer = LIBC.malloc(LARGEST_WRITE);
  private final Thread thread = NamedThreads.named("persister", this::run);

  /** The ranges of the window, by their beginning; only the persister's thread uses the window. */
  private final TreeMap<Long, Long> window = new TreeMap<>();

  private String windowPath = "";
  private long windowBytes;
  private long windowTime;
  private long windowBegan;

  /** The checkpoints that the front keeps, the newest last. */
  private final LinkedHashSet<String> units = new LinkedHashSet<>();

  /** Guarded by the front's lock, as are the following. */
  private int waiters;

  private long attempts;
  private long persistedBytes;
  private long errors;
  private String lastError = "";
  private @Nullable ErrnoException failure;
  private double rate;
  private volatile boolean stopped;

  /**
   * Prepares to persist.
   *
   * @param bytesPerSecond the most, 0 for no bound
   * @param keep how many checkpoints the front keeps once the store has them; 0 for as many as fit
   * @param meter is told what is durable
   */
  public Persister(Front front, Store store, double bytesPerSecond, int keep, SaveMeter meter) {
    this.front = front;
    this.store = store;
    this.bytesPerSecond = bytesPerSecond;
    this.keep = keep;
    this.meter = meter;
  }

  /** Starts the thread. */
  public void start() {
    thread.start();
  }

  private void run() {
    long pause = FIRST_PAUSE;
    while (!stopped) {
      try {
        long before = front.durable();
        step();
        if (window.isEmpty()
            || front.durable() > before) { // bytes that are taken are no success yet
          pause = FIRST_PAUSE;
          succeeded();
        }
      } catch (ErrnoException e) {
        failed(e);
        pauseAfterFailure(pause);
        pause = Math.min(2 * pause, LONGEST_PAUSE);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        stopped = true;
      } catch (RuntimeException | Error e) {
        log.error("persisting failed in the daemon itself", e);
        failed(ErrnoException.because(Errno.EIO, "", "internal error: " + e));
        pauseAfterFailure(pause);
        pause = Math.min(2 * pause, LONGEST_PAUSE);
      }
    }
    LIBC.free(buffer);
  }

  /** Takes the next operation, or makes durable what was taken if there is none. */
  private void step() throws ErrnoException, InterruptedException {
    step(window.isEmpty() ? IDLE : someoneWaits() ? 0 : CALM);
  }

  /** The same without waiting, for tests. */
  void stepNow() throws ErrnoException, InterruptedException {
    step(0);
  }

  private void step(long nanos) throws ErrnoException, InterruptedException {
    Front.Pending next = front.next(nanos);
    if (next == null) {
      sync();
    } else if (next.operation() instanceof Operation.Write write) {
      write(next, write);
    } else {
      apply(next);
    }
  }

  private void write(Front.Pending next, Operation.Write write) throws ErrnoException {
    if (!fitsWindow(write)) {
      sync();
    }
    front.read(next, buffer);
    long begin = System.nanoTime();
    if (window.isEmpty()) {
      windowBegan = begin;
      store.checkOwner();
      front.syncLog(); // the store must not have what the log may lose
    }
    store.write(write.path(), buffer, write.length(), write.offset());
    window.put(write.offset(), write.end());
    windowPath = write.path();
    windowBytes += write.length();
    windowTime = next.entry.time();
    front.taken(next);
    throttle(begin, write.length());
  }

  private boolean fitsWindow(Operation.Write write) {
    if (window.isEmpty()) {
      return true;
    }
    var before = window.lowerEntry(write.end());
    boolean overlaps = before != null && before.getValue() > write.offset();
    return windowPath.equals(write.path())
        && !overlaps
        && System.nanoTime() - windowBegan < LONGEST_WINDOW
        && windowBytes + write.length() <= LARGEST_WINDOW;
  }

  private void throttle(long begin, int length) {
    if (bytesPerSecond > 0) {
      long nanos = (long) (length / bytesPerSecond * 1e9) - (System.nanoTime() - begin);
      long end = System.nanoTime() + nanos;
      while (!stopped && System.nanoTime() < end) {
        LockSupport.parkNanos(end - System.nanoTime());
      }
    }
  }

  private void apply(Front.Pending next) throws ErrnoException {
    sync();
    Operation operation = next.operation();
    Cursor cursor = front.cursor();
    boolean done =
        cursor.begun() == next.sequence()
            && !operation.isRepeatable()
            && store.isApplied(operation, cursor.witness());
    if (!done) {
      store.checkOwner();
      front.syncLog();
      cursor.begin(next.sequence(), store.witness(operation));
      store.apply(operation);
    }
    front.taken(next);
    madeDurable();
    if (keep > 0) {
      renameUnits(operation);
    }
  }

  private void renameUnits(Operation operation) {
    if (operation instanceof Operation.Rename rename) {
      String from = Front.unit(rename.from());
      String to = Front.unit(rename.to());
      boolean isUnit = from.equals(rename.from());
      if (isUnit ? units.remove(from) : !from.equals(to)) {
        newest(to);
      }
    } else if (operation instanceof Operation.Remove remove) {
      units.remove(remove.path());
    }
  }

  /** Notes which checkpoint the store has got something of; remembers as many as are kept. */
  private void newest(String unit) {
    units.remove(unit);
    units.add(unit);
    if (units.size() > keep) {
      units.remove(units.iterator().next());
    }
  }

  private void madeDurable() throws ErrnoException {
    front.allDurable();
    meter.durable(front.durable());
  }

  /** Makes durable what the store has taken. */
  private void sync() throws ErrnoException {
    if (window.isEmpty()) {
      return;
    }
    store.sync(windowTime);
    double seconds = Math.max(1, System.nanoTime() - windowBegan) / 1e9;
    front.lock().lock();
    try {
      persistedBytes += windowBytes;
      rate = rate == 0 ? windowBytes / seconds : (rate + windowBytes / seconds) / 2;
    } finally {
      front.lock().unlock();
    }
    window.clear();
    windowBytes = 0;
    madeDurable();
    if (keep > 0) {
      newest(Front.unit(windowPath));
      front.keepOnly(units);
    }
  }

  private boolean someoneWaits() {
    front.lock().lock();
    try {
      return waiters > 0;
    } finally {
      front.lock().unlock();
    }
  }

  private void succeeded() {
    front.lock().lock();
    try {
      if (failure != null) {
        log.info("the store takes operations again");
        failure = null;
      }
    } finally {
      front.lock().unlock();
    }
  }

  void failed(ErrnoException e) {
    log.warn("the store fails, and is asked again: {}", e.getMessage());
    window.clear(); // after a failed sync it is not known what the store has: it is written again
    windowBytes = 0;
    front.lock().lock();
    try {
      front.takeAgain();
      errors++;
      attempts++;
      lastError = String.valueOf(e.getMessage());
      failure = e;
    } finally {
      front.lock().unlock();
    }
    front.signal();
  }

  private void pauseAfterFailure(long nanos) {
    try {
      long end = System.nanoTime() + nanos;
      long soonest = System.nanoTime() + FIRST_PAUSE;
      long left = nanos;
      while (!stopped && left > 0 && !(someoneWaits() && System.nanoTime() > soonest)) {
        front.awaitChange(Math.min(left, FIRST_PAUSE));
        left = end - System.nanoTime();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Waits until the store has an operation, and all before it, durably.
   *
   * @param nanos how long at most
   * @return whether it has
   * @throws ErrnoException if the store has failed since the call, which says why, or if the front
   *     was closed
   */
  public boolean await(long sequence, long nanos) throws ErrnoException, InterruptedException {
    long end = System.nanoTime() + nanos;
    front.lock().lockInterruptibly();
    try {
      waiters++;
      front.signal();
      long before = attempts;
      while (front.durable() < sequence) {
        if (failure != null && attempts > before) {
          throw failure;
        }
        if (front.isClosed()) { // which ends all waiting: the lock would never be free
          throw ErrnoException.because(Errno.EIO, "", "the daemon ends");
        }
        long left = end - System.nanoTime();
        if (left <= 0) {
          return false;
        }
        front.awaitChange(Math.min(left, TimeUnit.SECONDS.toNanos(1)));
      }
      return true;
    } finally {
      waiters--;
      front.lock().unlock();
    }
  }

  /** How far the persister is. */
  record Progress(
      long persistedBytes, double bytesPerSecond, long errors, String lastError, boolean fails) {}

  /** Returns how far the persister is now. */
  Progress progress() {
    front.lock().lock();
    try {
      return new Progress(persistedBytes, rate, errors, lastError, failure != null);
    } finally {
      front.lock().unlock();
    }
  }

  /** Ends after the operation that is under way; what is pending stays in the front. */
  @Override
  public void close() {
    stopped = true;
    front.signal();
    LockSupport.unpark(thread);
    try {
      thread.join(TimeUnit.SECONDS.toMillis(10)); // a store that hangs is left alone
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
