package io.holdfast.fs.accelerator;

import java.util.concurrent.locks.LockSupport;

/** The monotonic clock, and waiting by it. Thread-safe. */
interface Clock {
  /** The machine's clock. */
  Clock SYSTEM =
      new Clock() {
        @Override
        public long nanoTime() {
          return System.nanoTime();
        }

        @Override
        public void sleepUntil(long nanos) throws InterruptedException {
          for (long left = nanos - nanoTime(); left > 0; left = nanos - nanoTime()) {
            LockSupport.parkNanos(left);
            if (Thread.interrupted()) {
              throw new InterruptedException();
            }
          }
        }
      };

  /** Returns the time in nanoseconds, as {@link System#nanoTime()}: only differences count. */
  long nanoTime();

  /** Waits until a time of this clock; returns at once if that is over. */
  void sleepUntil(long nanos) throws InterruptedException;
}
