package io.holdfast.it;

import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Predicate;

/** Waiting for a condition, never for a time. */
public final class Await {
  private static final long POLL_MILLIS = 5;

  private Await() {}

  /** Polls until the condition holds; an error when it does not within {@code deadline}. */
  public static void until(Duration deadline, String condition, Callable<Boolean> holds) {
    value(deadline, condition, holds, Boolean::booleanValue);
  }

  /** Polls until a value is wanted and gives it; an error that tells the last value otherwise. */
  public static <T> T value(
      Duration deadline, String condition, Callable<T> value, Predicate<T> isWanted) {
    long end = System.nanoTime() + deadline.toNanos();
    while (true) {
      T last = get(value);
      if (isWanted.test(last)) {
        return last;
      }
      if (System.nanoTime() > end) {
        throw new AssertionError(
            "not within %d ms: %s; last seen: %s".formatted(deadline.toMillis(), condition, last));
      }
      pause();
    }
  }

  /** True when the condition came to hold within {@code deadline}. */
  public static boolean holdsWithin(Duration deadline, Callable<Boolean> holds) {
    long end = System.nanoTime() + deadline.toNanos();
    while (!get(holds)) {
      if (System.nanoTime() > end) {
        return false;
      }
      pause();
    }
    return true;
  }

  /**
   * Returns how long something may take now that may take so long while processors are idle: with n
   * times as many threads that want to run as there are processors, n times as long.
   */
  static Duration stretched(Duration whileIdle) {
    OperatingSystemMXBean machine = ManagementFactory.getOperatingSystemMXBean();
    double crowd = machine.getSystemLoadAverage() / machine.getAvailableProcessors();
    return Duration.ofMillis((long) (whileIdle.toMillis() * Math.max(1, crowd)));
  }

  private static <T> T get(Callable<T> value) {
    try {
      return value.call();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static void pause() {
    try {
      Thread.sleep(POLL_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting", e);
    }
  }
}
