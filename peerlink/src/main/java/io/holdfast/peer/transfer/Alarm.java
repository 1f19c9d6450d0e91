package io.holdfast.peer.transfer;

import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A timer on one event loop. Resetting it costs nothing, so it can be reset for each byte that
 * arrives.
 */
final class Alarm {
  private final EventLoop loop;
  private final Runnable ring;
  private long at;
  private boolean set;
  private @Nullable ScheduledFuture<?> timer;
  private long timerAt;

  Alarm(EventLoop loop, Runnable ring) {
    this.loop = loop;
    this.ring = ring;
  }

  /** Rings once after this delay; replaces any earlier time. */
  void set(Duration delay) {
    setAt(System.nanoTime() + delay.toNanos());
  }

  /** Rings once at this {@link System#nanoTime}. */
  void setAt(long nanos) {
    at = nanos;
    set = true;
    if (timer == null || timerAt - at > 0) {
      schedule();
    }
  }

  void clear() {
    set = false;
  }

  /** Clears the alarm and frees its timer. */
  void cancel() {
    set = false;
    if (timer != null) {
      timer.cancel(false);
      timer = null;
    }
  }

  private void schedule() {
    if (timer != null) {
      timer.cancel(false);
    }
    timerAt = at;
    timer = loop.schedule(this::check, at - System.nanoTime(), TimeUnit.NANOSECONDS);
  }

  private void check() {
    timer = null;
    if (!set) {
      return;
    }
    if (at - System.nanoTime() <= 0 || !isScheduled()) {
      set = false;
      ring.run();
    }
  }

  /** Schedules the timer; returns false where there is no memory for it: nothing would ring. */
  private boolean isScheduled() {
    try {
      schedule();
      return true;
    } catch (OutOfMemoryError e) {
      return false;
    }
  }
}
