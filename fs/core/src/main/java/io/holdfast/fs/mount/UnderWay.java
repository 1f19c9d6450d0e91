package io.holdfast.fs.mount;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * Counts tasks under way. A caller can wait until all tasks that began before have ended, while
 * more tasks begin. Thread-safe.
 */
final class UnderWay {
  private static final long LONGEST_MILLIS = Duration.ofSeconds(2).toMillis();

  /** The tasks under way that began before the last turn, and those that began since. */
  private final int[] counts = new int[2];

  private int turn;

  /**
   * The lock of the one thread that waits: two threads would mix up their turns. Taken before the
   * monitor.
   */
  private final Object waiter = new Object();

  /**
   * Notes that a task begins.
   *
   * @return to be passed to {@link #end}
   */
  synchronized int begin() {
    counts[turn]++;
    return turn;
  }

  /** Notes that a task has ended. */
  synchronized void end(int begun) {
    if (--counts[begun] == 0) {
      notifyAll();
    }
  }

  /**
   * Waits until all tasks have ended that had begun before the call.
   *
   * @return whether the wait ended within a bounded time
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
   * @param monitor held by the caller, and notified whenever the condition may have changed
   * @return whether the wait ended within a bounded time
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
