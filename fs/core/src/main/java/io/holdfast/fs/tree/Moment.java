package io.holdfast.fs.tree;

import io.holdfast.fs.linux.Boot;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * A moment, by the machine's two clocks. Immutable.
 *
 * @param steady nanoseconds by {@link System#nanoTime}, which nobody sets; never 0
 * @param ofDay nanoseconds since 1970, as in {@link io.holdfast.fs.origin.Attributes#changed()};
 *     the clock may be set at any time
 * @param boot the machine's boot; {@code steady} is comparable only within one boot
 */
public record Moment(long steady, long ofDay, UUID boot) {
  /** Returns the current moment. */
  public static Moment now() {
    return new Moment(
        System.nanoTime(), TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()), Boot.id());
  }

  /** Returns the difference: time of day minus steady time. */
  long offset() {
    return ofDay - steady;
  }

  /**
   * Returns the offset for times of day that were written at another moment: the offset of that
   * moment, which holds even if the clock was set since; after a reboot, the offset of this moment.
   */
  long offsetOf(Moment written) {
    return written.boot.equals(boot) ? written.offset() : offset();
  }
}
