package io.holdfast.fs.mount.kernel;

import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.CallerSignals;

/**
 * A thread that waits for the answer to a request. Immutable.
 *
 * @param thread its number; 0 if it is in a namespace that this process does not see
 * @param since when its request came, by {@link System#nanoTime()}
 */
record Caller(int thread, long since) {
  /** Returns the thread of a request that has just come. */
  static Caller of(long request) {
    return new Caller(Memory.getInt(request + Wire.PID), System.nanoTime());
  }

  /** Tells whether a signal ends the thread. */
  boolean ends() {
    return CallerSignals.end(thread, since);
  }
}
