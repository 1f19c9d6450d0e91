package io.holdfast.fs.orders;

import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.Transit;
import java.util.Collection;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches the files that orders predict. A thread of its own asks each order in turn for its next
 * file and has transit fetch it; it goes on whenever a job has opened a file or a fetch has ended.
 * It begins no fetch while another waits for its turn at the origin, or while transit is more than
 * half full. Thread-safe.
 */
final class Prefetcher {
  private static final Logger log = LoggerFactory.getLogger(Prefetcher.class);

  /** The first pause: after it, what had no room before may have some. */
  private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(5);

  /** The longest one: each pause is twice the one before, until a file is fetched. */
  private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(500);

  private final OrderParts parts;
  private final Supplier<Collection<Order>> orders;
  private final BooleanSupplier learn;
  private @Nullable Thread thread;
  private final Queue<RuntimeException> failures = new ConcurrentLinkedQueue<>();
  private volatile boolean closed;

  /**
   * Creates a prefetcher whose thread does not run.
   *
   * @param learn makes an order of what was found, and tells whether there is more to be made;
   *     called on the thread
   */
  Prefetcher(OrderParts parts, Supplier<Collection<Order>> orders, BooleanSupplier learn) {
    this.parts = parts;
    this.orders = orders;
    this.learn = learn;
  }

  /** Starts the thread, unless it runs; also if it has ended because of an error. */
  synchronized void start() {
    if (!isRunning() && !closed) {
      thread = NamedThreads.start("orders", this::run);
    }
  }

  /** Has the thread log a failure of a thread that logs nothing itself. */
  void failed(RuntimeException failure) {
    failures.add(failure);
    wake();
  }

  /** Has the thread look again. Waits for nothing; for any thread. */
  void wake() {
    LockSupport.unpark(thread);
  }

  private void run() {
    long pause = SHORTEST_PAUSE;
    while (!closed) {
      boolean learns = false;
      try {
        for (RuntimeException e = failures.poll(); e != null; e = failures.poll()) {
          log.error("an order could not be followed, and is forgotten", e);
        }
        learns = learn.getAsBoolean();
        boolean some = false;
        for (Order order : orders.get()) {
          some |= fetchNext(order);
        }
        if (some) {
          pause = SHORTEST_PAUSE;
          continue;
        }
      } catch (OutOfMemoryError e) {
        OutOfMemory.tell(e);
      } catch (RuntimeException | Error e) { // a thread that ended here would fetch nothing again
        log.error("a file could not be fetched ahead", e);
      }
      pause(pause, learns);
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    }
  }

  private void pause(long nanos, boolean learns) {
    if (orders.get().isEmpty() && !learns) {
      LockSupport.park(this);
    } else {
      LockSupport.parkNanos(this, nanos);
    }
  }

  /** Begins a fetch for an order; returns whether there was one to begin. */
  private boolean fetchNext(Order order) {
    String trouble = order.takeTrouble();
    if (!trouble.isEmpty()) {
      log.warn("the order of job '{}' is not right: the job {}", order.job, trouble);
    }
    if (order.isLost()) {
      order.find();
    }
    if (order.isToBegin()) {
      order.begin();
    }
    if (isBusy()) {
      return false;
    }
    Order.Fetch next = order.next(parts.nanoTime().getAsLong(), mostAhead(order));
    if (next == null) {
      return false;
    }
    fetch(order, next);
    return true;
  }

  /** Returns the bytes that an order may have ahead: its part, and no more than others leave. */
  private long mostAhead(Order order) {
    long now = parts.nanoTime().getAsLong();
    long others = 0;
    int readers = order.isRead(now) ? 0 : 1;
    for (Order each : orders.get()) {
      others += each == order ? 0 : each.unusedBytes();
      readers += each.isRead(now) && !each.isAbandoned() ? 1 : 0;
    }
    long all = parts.mostAhead();
    return Math.max(0, Math.min(all - others, all / Math.max(1, readers)));
  }

  private boolean isBusy() {
    return parts.transit().fetches().queued() > 0
        || parts.transit().usedForReaders() > parts.transit().capacityForReaders() / 2;
  }

  private void fetch(Order order, Order.Fetch next) {
    Item item = next.item();
    long began = parts.nanoTime().getAsLong();
    boolean begun = false;
    try {
      CompletableFuture<Void> unused =
          parts
              .transit()
              .fetchAhead(
                  item, next.thread(), parts.activity().fetchAhead(item.key(), next.thread()))
              .thenAccept(
                  how -> {
                    long now = parts.nanoTime().getAsLong();
                    order.ended(next.file(), how, now - began, now);
                    wake();
                  });
      begun = true;
    } finally {
      if (!begun) { // nobody else would end it, and it takes room of what the order may have ahead
        order.ended(next.file(), Transit.Ahead.OVER, 0, began);
      }
    }
  }

  /** Tells whether the thread runs. */
  synchronized boolean isRunning() {
    return thread != null && thread.isAlive();
  }

  /** Ends the thread; does not wait for it. */
  synchronized void close() {
    closed = true;
    wake();
  }
}
