package io.holdfast.fs;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Bounded waits: for an event, or the test fails. */
public final class Await {
  /** Far more than anything takes; a test that works never waits for so long. */
  public static final Duration LONGEST = Duration.ofSeconds(60);

  private Await() {}

  /** Waits for what other threads will bring about, and nothing else announces. */
  public static void until(String what, BooleanSupplier condition) {
    long end = System.nanoTime() + LONGEST.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new AssertionError("did not happen: " + what);
      }
      Thread.onSpinWait();
    }
  }

  /**
   * Ends threads, and waits for that. Afterwards a test may free what they use, native memory above
   * all.
   */
  public static void end(ExecutorService threads) {
    threads.shutdownNow();
    try {
      if (!threads.awaitTermination(LONGEST.toSeconds(), TimeUnit.SECONDS)) {
        throw new AssertionError("threads did not end");
      }
    } catch (InterruptedException e) {
      throw new AssertionError("interrupted", e);
    }
  }

  /** Waits for a latch. */
  public static void latch(CountDownLatch latch) {
    try {
      if (!latch.await(LONGEST.toSeconds(), TimeUnit.SECONDS)) {
        throw new AssertionError("the latch was not opened");
      }
    } catch (InterruptedException e) {
      throw new AssertionError("interrupted", e);
    }
  }
}
