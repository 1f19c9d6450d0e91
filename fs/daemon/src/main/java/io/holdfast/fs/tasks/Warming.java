package io.holdfast.fs.tasks;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.Transit;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings items into memory: fetches each item into transit, where it is admitted and pinned as if
 * an application had read it. Skips residents and items without room. Evicts nothing, except for
 * items that users have pinned.
 *
 * <p>Warming yields to readers: it starts no fetch while another fetch waits for its turn or
 * transit is more than a quarter full, and its threads have a low priority. Thread-safe; the
 * monitor guards the sums of pending items.
 */
final class Warming {
  private static final Logger log = LoggerFactory.getLogger(Warming.class);

  private static final int PART_OF_TRANSIT = 4;
  private static final int NICE = 10;
  private static final int PRIO_PROCESS = 0;
  private static final long PAUSE_NANOS = 500_000;

  /**
   * Most pauses before an item: readers may keep transit full for as long as they read, and then
   * warming goes on slowly.
   */
  private static final int LONGEST_PAUSES = 40;

  private static final long SLICE_MILLIS = 100;
  private static final long TICK_MILLIS = 10;

  private final TaskParts parts;
  private final Residency residency;
  private final Transit transit;
  private final Items items;
  private final TaskCounts counts;
  private final BooleanSupplier goesOn;

  /** Admitted items, in the order in which they are pinned. */
  private final Queue<Item> pinning = new ConcurrentLinkedQueue<>();

  /** The failure that has ended a thread early; the others end then, too. */
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

  private long pendingBytes;
  private long pendingWeight;

  Warming(TaskParts parts, FileIds files, TaskCounts counts, BooleanSupplier goesOn) {
    this.parts = parts;
    this.residency = parts.residency();
    this.transit = parts.transit();
    this.items = new Items(parts, files);
    this.counts = counts;
    this.goesOn = () -> goesOn.getAsBoolean() && failure.get() == null;
  }

  /**
   * Fetches the items; returns when all are pinned or the task was stopped. Fails as its threads
   * do.
   */
  void run(int threads) throws InterruptedException {
    List<Thread> workers = new ArrayList<>();
    for (int i = 0; i < threads && failure.get() == null; i++) {
      try {
        Thread worker = parts.threads().newThread(this::work);
        worker.start();
        workers.add(worker);
      } catch (OutOfMemoryError e) {
        failed(e); // no thread
      }
    }
    for (Thread worker : workers) {
      while (worker.isAlive()) {
        worker.join(TICK_MILLIS);
        followPins();
      }
    }
    while (!pinning.isEmpty() && goesOn.getAsBoolean()) {
      Thread.sleep(TICK_MILLIS);
      followPins();
    }
    throwFailure();
  }

  private void failed(Throwable cause) {
    failure.compareAndSet(null, cause);
  }

  private void throwFailure() {
    Throwable cause = failure.get();
    if (cause instanceof Error error) {
      throw error;
    } else if (cause instanceof RuntimeException exception) {
      throw exception;
    }
  }

  private void followPins() {
    for (Item first = pinning.peek(); first != null; first = pinning.peek()) {
      if (residency.isPinned(first)) {
        counts.add(TaskCounts.Kind.FETCHED, first);
      } else if (residency.isResident(first)) {
        return;
      } else {
        counts.addFailure(first, "it could not be pinned, or was given up at once");
      }
      pinning.remove();
    }
  }

  private void work() {
    LIBC.setpriority(PRIO_PROCESS, 0, NICE);
    try {
      for (Item item = items.next(); item != null && goesOn.getAsBoolean(); item = items.next()) {
        warm(item);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      failed(e);
    }
  }

  private void warm(Item item) throws InterruptedException {
    if (residency.isResident(item)) {
      counts.add(TaskCounts.Kind.RESIDENT, item);
    } else if (!parts.mayKeep().test(item) || residency.isExcluded(item.path().get())) {
      counts.add(TaskCounts.Kind.OTHER, item);
    } else {
      giveWay();
      if (reserve(item)) {
        try {
          fetch(item);
        } finally {
          release(item);
        }
      } else if (goesOn.getAsBoolean()) {
        counts.add(TaskCounts.Kind.UNFIT, item);
      }
    }
  }

  private void giveWay() {
    for (int i = 0; i < LONGEST_PAUSES && goesOn.getAsBoolean() && isBusy(); i++) {
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  private boolean isBusy() {
    return transit.usedForReaders() > transit.capacityForReaders() / PART_OF_TRANSIT
        || transit.fetches().queued() > 0;
  }

  /** Reserves room for an item and all pending ones, so that no item is fetched in vain. */
  private synchronized boolean reserve(Item item) throws InterruptedException {
    long most = transit.capacityForReaders() / PART_OF_TRANSIT;
    while (goesOn.getAsBoolean() && residency.hasRoom(item, 0)) {
      boolean few = pendingBytes == 0 || pendingBytes + item.length() <= most;
      // some pending items are resident by now, and counted twice for a moment
      if (few && residency.hasRoom(item, pendingWeight)) {
        pendingBytes += item.length();
        pendingWeight += Residency.weight(item.length());
        return true;
      }
      wait(SLICE_MILLIS);
    }
    return false;
  }

  private synchronized void release(Item item) {
    pendingBytes -= item.length();
    pendingWeight -= Residency.weight(item.length());
    notifyAll();
  }

  private void fetch(Item item) throws InterruptedException {
    FsException failure = await(transit.bring(item));
    if (failure != null) {
      counts.addFailure(item, String.valueOf(failure.getMessage()));
    } else if (residency.isResident(item)) {
      pinning.add(item);
    } else if (goesOn.getAsBoolean()) {
      counts.add(TaskCounts.Kind.UNFIT, item);
    }
  }

  /** Waits for an item; transit bounds the wait. Returns the failure, or null. */
  private @Nullable FsException await(Future<?> brought) throws InterruptedException {
    while (goesOn.getAsBoolean()) {
      try {
        brought.get(SLICE_MILLIS, TimeUnit.MILLISECONDS);
        return null;
      } catch (TimeoutException e) {
        log.trace("still waiting", e);
      } catch (ExecutionException e) {
        return e.getCause() instanceof FsException cause
            ? cause
            : new FsException(FsError.IO, String.valueOf(e.getCause()), e);
      }
    }
    return null;
  }
}
