package io.holdfast.it;

import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * Waiting for a condition, never for a time. A look at the condition costs processor time, often
 * that of a daemon too, so the pause between two looks grows with the time waited.
 */
public final class Await {
  private static final Duration SHORTEST_PAUSE = Duration.ofMillis(5);
  private static final Duration LONGEST_PAUSE = Duration.ofMillis(50);

  /** A pause is the time waited, divided by this. */
  private static final int PART = 8;

  private Await() {}

  /** Polls until the condition holds; an error when it does not within {@code deadline}. */
  public static void until(Duration deadline, String condition, Callable<Boolean> holds) {
    value(deadline, condition, holds, Boolean::booleanValue);
  }

  /** The same without longer pauses, for a test that has to act in that moment. */
  static void moment(Duration deadline, String condition, Callable<Boolean> holds) {
    value(deadline, condition, holds, Boolean::booleanValue, SHORTEST_PAUSE);
  }

  /** Polls until a value is wanted and gives it; an error that tells the last value otherwise. */
  public static <T> T value(
      Duration deadline, String condition, Callable<T> value, Predicate<T> isWanted) {
    return value(deadline, condition, value, isWanted, LONGEST_PAUSE);
  }

  private static <T> T value(
      Duration deadline,
      String condition,
      Callable<T> value,
      Predicate<T> isWanted,
      Duration longestPause) {
    long start = System.nanoTime();
    while (true) {
      T last = get(value);
      if (isWanted.test(last)) {
        return last;
      }
      if (!pause(start, deadline, longestPause)) {
        throw new AssertionError(
            "not within %d ms: %s; last seen: %s".formatted(deadline.toMillis(), condition, last));
      }
    }
  }

  /** True when the condition came to hold within {@code deadline}. */
  public static boolean holdsWithin(Duration deadline, Callable<Boolean> holds) {
    long start = System.nanoTime();
    while (!get(holds)) {
      if (!pause(start, deadline, LONGEST_PAUSE)) {
        return false;
      }
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

  /** Pauses until the next look, at the deadline at the latest; returns false after that. */
  private static boolean pause(long start, Duration deadline, Duration longest) {
    long waited = System.nanoTime() - start;
    if (waited > deadline.toNanos()) {
      return false;
    }
    long pause = Math.max(SHORTEST_PAUSE.toNanos(), Math.min(waited / PART, longest.toNanos()));
    try {
      TimeUnit.NANOSECONDS.sleep(Math.min(pause, deadline.toNanos() - waited + 1));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting", e);
    }
    return true;
  }
}
