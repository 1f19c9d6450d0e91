package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.checkpoint.PendingOperations.Pending;
import io.holdfast.fs.linux.NamedThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import jnr.constants.platform.Errno;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the operations of a front to the store, in order, on one thread. So the store always shows
 * what the program had done up to some moment, also if the store or this machine crashes: {@link
 * InPlaceTaking} and {@link RowTaking} say how.
 *
 * <p>A store that fails is asked again, after a pause that doubles up to half a minute, or as soon
 * as somebody waits. Thread-safe.
 */
public final class Persister implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Persister.class);

  private static final int LARGEST_WRITE = 2 << 20;
  private static final long FIRST_PAUSE = Duration.ofMillis(100).toNanos();
  private static final long LONGEST_PAUSE = Duration.ofSeconds(30).toNanos();

  private static final long IDLE = Duration.ofSeconds(1).toNanos();

  private final Front front;
  private final Taking taking;
  private final double bytesPerSecond;
  private final int keep;
  private final SaveMeter meter;
  private final long buffer = LIBC.malloc(LARGEST_WRITE);
  private final Thread thread = NamedThreads.named("persister", this::run);

  /** The checkpoints that the front keeps, the newest last. */
  private final LinkedHashSet<String> units = new LinkedHashSet<>();

  /** For what somebody waits. Guarded by the front's lock, as are the following. */
  private final List<Long> waited = new ArrayList<>();

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
   * @throws ErrnoException if the front cannot be listed
   */
  public Persister(Front front, Store store, double bytesPerSecond, int keep, SaveMeter meter)
      throws ErrnoException {
    this.front = front;
    this.taking =
        store instanceof RowStore rows
            ? new RowTaking(front, rows, this, buffer)
            : new InPlaceTaking(front, (InPlaceStore) store, this, buffer);
    this.bytesPerSecond = bytesPerSecond;
    this.keep = keep;
    this.meter = meter;
    meter.restart(front.durable());
    if (keep > 0) {
      units.addAll(front.newestUnits(keep)); // those of earlier daemons count, too
    }
  }

  /** Starts the thread. */
  public void start() {
    thread.start();
  }

  private void run() {
    try {
      persist();
    } catch (RuntimeException | Error e) {
      throw Front.halt(e); // nothing would come to the store any more, and nobody would be told
    }
    LIBC.free(buffer);
  }

  private void persist() {
    long pause = FIRST_PAUSE;
    while (!stopped) {
      try {
        long before = front.durable();
        step();
        if (taking.isEmpty()
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
  }

  /** Takes the next operation, or makes durable what was taken if there is none. */
  private void step() throws ErrnoException, InterruptedException {
    step(taking.isEmpty() ? IDLE : isHurried() ? 0 : taking.calm());
  }

  /** The same without waiting, for tests. */
  void stepNow() throws ErrnoException, InterruptedException {
    step(0);
  }

  private void step(long nanos) throws ErrnoException, InterruptedException {
    Pending next = taking.isFull(firstWaited()) ? null : front.next(nanos);
    if (next == null) {
      taking.makeDurable();
    } else {
      taking.take(next);
    }
  }

  /** Waits until so many bytes since a moment are within the bound. */
  void throttle(long begin, int length) {
    if (bytesPerSecond > 0) {
      long nanos = (long) (length / bytesPerSecond * 1e9) - (System.nanoTime() - begin);
      long end = System.nanoTime() + nanos;
      while (!stopped && System.nanoTime() < end) {
        LockSupport.parkNanos(end - System.nanoTime());
      }
    }
  }

  /** Notes the names of checkpoints behind an operation. */
  void renameUnits(Operation operation) {
    if (keep == 0) {
      return;
    }
    if (operation instanceof Operation.Rename rename) {
      String from = Front.unit(rename.from());
      String to = Front.unit(rename.to());
      boolean isUnit = from.equals(rename.from());
      if (isUnit ? units.remove(from) : !from.equals(to) && !front.isPointer(rename.to())) {
        newest(to);
      }
    } else if (operation instanceof Operation.Remove remove) {
      units.remove(remove.path());
    }
  }

  /**
   * Notes that the store has got bytes of a file.
   *
   * @param end where the last of them end
   */
  void written(String path, long end) {
    if (keep > 0 && !Front.isPointer(path, end)) {
      newest(Front.unit(path));
    }
  }

  /** Notes which checkpoint is the newest; remembers as many as are kept. */
  private void newest(String unit) {
    units.remove(unit);
    units.add(unit);
    if (units.size() > keep) {
      units.remove(units.iterator().next());
    }
  }

  /** Makes stubs of the checkpoints that the front need not keep. */
  void keepUnits() {
    if (keep > 0) {
      front.keepOnly(units);
    }
  }

  /** Notes that the store has durably what it has taken. */
  void madeDurable() throws ErrnoException {
    front.allDurable();
    meter.durable(front.durable());
  }

  /** Notes that the store has got bytes in a time. */
  void persisted(long bytes, long nanos) {
    double perSecond = bytes / (Math.max(1, nanos) / 1e9);
    front.lock().lock();
    try {
      persistedBytes += bytes;
      rate = rate == 0 ? perSecond : (rate + perSecond) / 2;
    } finally {
      front.lock().unlock();
    }
  }

  private long firstWaited() {
    front.lock().lock();
    try {
      long durable = front.durable();
      return waited.stream()
          .mapToLong(Long::longValue)
          .filter(each -> each > durable)
          .min()
          .orElse(Long.MAX_VALUE);
    } finally {
      front.lock().unlock();
    }
  }

  /** Tells whether a pause would keep a program waiting. */
  private boolean isHurried() {
    return someoneWaits() || front.usage().waiting() > 0;
  }

  private boolean someoneWaits() {
    front.lock().lock();
    try {
      return !waited.isEmpty();
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
    taking.forget();
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
    front.lock().lockInterruptibly();
    try {
      return await(sequence, nanos, attempts);
    } finally {
      front.lock().unlock();
    }
  }

  /**
   * The same for who asks again and again, and is to be told of a failure between two questions.
   *
   * @param known the {@linkplain #failures failures} when that one began to wait
   */
  public boolean await(long sequence, long nanos, long known)
      throws ErrnoException, InterruptedException {
    long end = System.nanoTime() + nanos;
    front.lock().lockInterruptibly();
    try {
      long before =
          Math.min(known, beginAwait(sequence)); // an earlier daemon may have counted more
      while (!isDurable(sequence, before)) {
        long left = end - System.nanoTime();
        if (left <= 0) {
          return false;
        }
        front.awaitChange(Math.min(left, TimeUnit.SECONDS.toNanos(1)));
      }
      return true;
    } finally {
      endAwait(sequence);
      front.lock().unlock();
    }
  }

  /**
   * Notes that somebody waits until the store has an operation.
   *
   * @return the {@linkplain #failures failures} until now
   */
  long beginAwait(long sequence) {
    front.lock().lock();
    try {
      waited.add(sequence);
      front.signal();
      return attempts;
    } finally {
      front.lock().unlock();
    }
  }

  /** Takes {@link #beginAwait} back. */
  void endAwait(long sequence) {
    front.lock().lock();
    try {
      waited.remove((Object) sequence);
    } finally {
      front.lock().unlock();
    }
  }

  /**
   * Tells whether the store has an operation, and all before it, durably.
   *
   * @param known the failures when somebody began to wait for it
   * @throws ErrnoException if the store has failed since, or if the front was closed
   */
  boolean isDurable(long sequence, long known) throws ErrnoException {
    front.lock().lock();
    try {
      if (front.durable() >= sequence) {
        return true;
      }
      if (failure != null && attempts > known) {
        throw failure;
      }
      if (front.isClosed()) { // which ends all waiting: the lock would never be free
        throw ErrnoException.because(Errno.EIO, "", "the daemon ends");
      }
      return false;
    } finally {
      front.lock().unlock();
    }
  }

  /** Returns how many attempts at the store have failed. */
  public long failures() {
    front.lock().lock();
    try {
      return attempts;
    } finally {
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
