package io.holdfast.fs.origin.posix;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits until a file has been left alone for a while. A file that is rewritten in place shows its
 * new modification time from the first changed byte on, and between two writes it looks like any
 * other file: a version of its own, half old and half new. Only time tells that its writer is done.
 *
 * <p>The idea is git's, which does not trust an index entry as young as the file ("racy git"). It
 * needs the store's clock to agree with this machine's within the quiet time; a time in the future
 * is nothing to wait for, since it may have been set. Thread-safe.
 */
final class QuietTime {
  /** A writer that pauses for longer than this in the middle of a file has made a version of it. */
  static final Duration LENGTH = Duration.ofMillis(100);

  private final InstantSource clock;

  QuietTime(InstantSource clock) {
    this.clock = clock;
  }

  /**
   * Waits until the quiet time after a write is over; at most that long.
   *
   * @param modified when the file was written to, in nanoseconds since 1970
   */
  void awaitAfter(long modified) {
    long left = left(modified);
    long end = System.nanoTime() + left;
    while (left > 0) {
      LockSupport.parkNanos(left);
      left = end - System.nanoTime();
    }
  }

  /** Returns how much of the quiet time after a write is left now, in nanoseconds. */
  long left(long modified) {
    Instant now = clock.instant();
    long age = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano() - modified;
    return age < 0 ? 0 : Math.max(0, LENGTH.toNanos() - age);
  }
}
