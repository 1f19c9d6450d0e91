package io.holdfast.fs.stats;

import java.util.function.LongSupplier;

/**
 * Measures for how long at least one of a job's threads waits for reads; waits that overlap count
 * once. Thread-safe. The monitor guards the fields, and is a leaf. The clock is read under the
 * monitor, so that its moments are in the order of the waits.
 */
final class FetchingTime {
  private final LongSupplier nanoTime;

  /** The threads that wait now. */
  private int waiting;

  /** When the first of them began to wait. */
  private long since;

  /** The nanoseconds before that. */
  private long nanos;

  FetchingTime(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Notes that another thread waits. */
  synchronized void begins() {
    if (waiting == 0) {
      since = nanoTime.getAsLong();
    }
    waiting++;
  }

  /** Notes that a thread waits no more. */
  synchronized void ends() {
    waiting--;
    if (waiting == 0) {
      nanos += nanoTime.getAsLong() - since;
    }
  }

  /** Tells whether a thread waits. */
  synchronized boolean isUnderWay() {
    return waiting > 0;
  }

  /** Returns the nanoseconds up to now. */
  synchronized long nanos() {
    return waiting == 0 ? nanos : nanos + nanoTime.getAsLong() - since;
  }
}
