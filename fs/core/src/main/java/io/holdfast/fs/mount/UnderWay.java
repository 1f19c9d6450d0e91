package io.holdfast.fs.mount;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * Counts what has begun and has not ended, so that somebody can wait for all that began before,
 * while more goes on to begin. Thread-safe.
 */
final class UnderWay {
  private static final long LONGEST_MILLIS = Duration.ofSeconds(2).toMillis();

  /** What began before the last turn, and since. */
  private final int[] counts = new int[2];

  private int turn;

  /** Whoever waits has it: the turns of two would get mixed up. */
  private final Object waiter = new Object();

  /**
   * Something begins.
   *
   * @return to be passed to {@link #end}
   */
  synchronized int begin() {
    counts[turn]++;
    return turn;
  }

  /** It has ended. */
  synchronized void end(int begun) {
    if (--counts[begun] == 0) {
      notifyAll();
    }
  }

  /**
   * Waits until all has ended that had begun when this was called.
   *
   * @return whether it was so in a bounded time
   */
  boolean awaitEarlier() {
    synchronized (waiter) {
      return awaitTurn();
    }
  }

  private synchronized boolean awaitTurn() {
    boolean all = awaitEmpty(1 - turn);
    turn = 1 - turn;
    return awaitEmpty(1 - turn) && all;
  }

  private boolean awaitEmpty(int of) {
    return await(this, () -> counts[of] == 0);
  }

  /**
   * Waits until a condition holds.
   *
   * @param monitor which the caller has, and which is told of what the condition depends on
   * @return whether it was so in a bounded time
   */
  static boolean await(Object monitor, BooleanSupplier condition) {
    long end = System.nanoTime() + LONGEST_MILLIS * 1_000_000;
    while (!condition.getAsBoolean()) {
      long left = (end - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        return false;
      }
      try {
        monitor.wait(left);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
    return true;
  }
}
