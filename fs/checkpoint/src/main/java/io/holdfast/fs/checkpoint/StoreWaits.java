package io.holdfast.fs.checkpoint;

import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.linux.NamedThreads;
import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import jnr.constants.platform.Errno;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Programs that wait until the store has an operation durably. One thread waits for all of them:
 * with a thread each, so many could wait for a store that is away that no thread would be left for
 * other requests. Thread-safe.
 */
public final class StoreWaits {
  private static final Logger log = LoggerFactory.getLogger(StoreWaits.class);

  private static final long LOOK = Duration.ofSeconds(1).toNanos();

  /** How long the thread stays when nobody waits any more. */
  private static final long CALM = Duration.ofSeconds(10).toNanos();

  /** Is told how the waiting of a program has ended. Must not wait for anything. */
  @FunctionalInterface
  public interface End {
    /**
     * Tells it, once.
     *
     * @param failure why the store does not have the operation; null if it has
     */
    void ended(@Nullable ErrnoException failure);
  }

  /** The waiting of one program. */
  public final class Wait {
    private final long sequence;
    private final End end;

    /** The failures of the store when it began. */
    private long failures;

    private @Nullable ErrnoException failure;

    private Wait(long sequence, End end) {
      this.sequence = sequence;
      this.end = end;
    }

    /** Ends it with EINTR, unless it has ended. */
    public void interrupt() {
      lock.lock();
      try {
        if (!waits.remove(this)) {
          return;
        }
      } finally {
        lock.unlock();
      }
      failure = ErrnoException.of(Errno.EINTR, "");
      StoreWaits.this.end(this);
    }

    private boolean isOver() {
      try {
        return persister.isDurable(sequence, failures);
      } catch (ErrnoException e) {
        failure = e;
        return true;
      }
    }
  }

  private final Front front;
  private final Persister persister;
  private final ReentrantLock lock;
  private final Condition arrived;

  /** Waits for the earliest operations come first. Guarded by the front's lock, as all. */
  private final PriorityQueue<Wait> waits =
      new PriorityQueue<>(Comparator.comparingLong((Wait wait) -> wait.sequence));

  private boolean hasThread;

  StoreWaits(Front front, Persister persister) {
    this.front = front;
    this.persister = persister;
    lock = front.lock();
    arrived = lock.newCondition();
  }

  /** Begins to wait for an operation; the end may come before this returns. */
  Wait begin(long sequence, End end) {
    Wait wait = new Wait(sequence, end);
    lock.lock();
    try {
      startThread();
      wait.failures = persister.beginAwait(sequence);
      add(wait);
      arrived.signal();
    } finally {
      lock.unlock();
    }
    return wait;
  }

  /** Adds a wait, or takes back that it has begun: its caller answers the program then. */
  private void add(Wait wait) {
    boolean added = false;
    try {
      added = waits.add(wait);
    } finally {
      if (!added) {
        persister.endAwait(wait.sequence);
      }
    }
  }

  private void startThread() {
    if (!hasThread) {
      Thread unused = NamedThreads.start("store-waits", this::run);
      hasThread = true;
    }
  }

  private void run() {
    boolean goesOn = true;
    while (goesOn) {
      try {
        goesOn = endNext();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        goesOn = false;
      } catch (RuntimeException | Error e) { // those behind it have no other thread
        OutOfMemory.tell(log, "a program may wait for ever", e);
      }
    }
  }

  /** Waits until a program need not wait any more, and tells it; returns false if none came. */
  private boolean endNext() throws InterruptedException {
    Wait over = null;
    lock.lockInterruptibly();
    try {
      while (over == null) {
        if (waits.isEmpty() && !awaitArrival()) {
          hasThread = false;
          return false;
        }
        Wait first = waits.peek();
        if (first != null && first.isOver()) { // and then the next one
          over = waits.poll();
        } else {
          front.awaitChange(LOOK);
        }
      }
    } finally {
      lock.unlock();
    }
    end(over);
    return true;
  }

  private boolean awaitArrival() throws InterruptedException {
    long left = CALM;
    while (waits.isEmpty() && left > 0) {
      left = arrived.awaitNanos(left);
    }
    return !waits.isEmpty();
  }

  private void end(Wait wait) {
    persister.endAwait(wait.sequence);
    wait.end.ended(wait.failure);
  }
}
