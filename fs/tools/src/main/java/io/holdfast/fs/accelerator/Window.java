package io.holdfast.fs.accelerator;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The time of a run. It is over when it has lasted as long as planned, or when somebody ends it
 * earlier. Thread-safe.
 */
final class Window {
  private final Clock clock;
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile long end;

  /** Creates a window that begins now. */
  Window(Clock clock, long nanos) {
    this.clock = clock;
    this.end = clock.nanoTime() + nanos;
  }

  /** Returns the end, or the planned end as long as nobody has ended it, on the run's clock. */
  long end() {
    return end;
  }

  /** Returns the time on the run's clock. */
  long now() {
    return clock.nanoTime();
  }

  boolean isOver() {
    return clock.nanoTime() - end >= 0;
  }

  /** Ends it now, unless it is over. */
  synchronized void endNow() {
    long now = clock.nanoTime();
    if (now - end < 0) {
      end = now;
    }
    ended.countDown();
  }

  /** Waits for the end. */
  void await() throws InterruptedException {
    while (!isOver() && !ended.await(end - clock.nanoTime(), TimeUnit.NANOSECONDS)) {
      // the clock of the latch is not exactly this one
    }
  }
}
