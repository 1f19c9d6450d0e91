package io.holdfast.fs.tree;

import io.holdfast.fs.linux.Boot;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * A moment, as the machine's clocks have it. Immutable.
 *
 * @param steady nanoseconds by {@link System#nanoTime}, which nobody sets; never 0
 * @param ofDay nanoseconds since 1970, as in {@link io.holdfast.fs.origin.Attributes#changed()};
 *     the clock may be set at any time
 * @param boot for as long as which {@code steady} counts
 */
public record Moment(long steady, long ofDay, UUID boot) {
  /** Returns this moment. */
  public static Moment now() {
    return new Moment(
        System.nanoTime(), TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()), Boot.id());
  }

  /** Returns what to take from a time of day to have the time of the steady clock. */
  long offset() {
    return ofDay - steady;
  }

  /**
   * Returns the offset for times of day that were written down at another moment: that of then,
   * which holds whatever the clock was set to since, or where the machine was started since, that
   * of now.
   */
  long offsetOf(Moment written) {
    return written.boot.equals(boot) ? written.offset() : offset();
  }
}
