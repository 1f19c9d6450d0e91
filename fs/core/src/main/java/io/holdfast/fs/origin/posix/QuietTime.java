package io.holdfast.fs.origin.posix;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits until nobody has written to a file for a while. A file that is rewritten in place has its
 * new change time from the first changed byte on. Between two writes it looks like any other file:
 * a version of its own, half old and half new. Only time tells that the writer has ended.
 *
 * <p>A write that follows within a tick of the store's clock leaves the same change time. So
 * content is read only after the tick: any later write shows another time. The time itself tells
 * the tick. A time in whole seconds may be from a clock with ticks of one second (ext4 with inodes
 * of 128 bytes, many NFS servers and gateways); a time in even seconds, from a clock with ticks of
 * two (FAT). A finer clock seldom gives such a time by chance, and then the cost is a wait. Ticks
 * below a second are shorter than the quiet time.
 *
 * <p>The idea is git's, which does not trust an index entry as young as the file ("racy git"). The
 * change time is compared, because no user can set it. A change time in the future is from a clock
 * that is ahead: the file changed at most a moment before it was looked at, so the quiet time
 * counts from now. A clock that is behind is not noticed. Thread-safe.
 */
final class QuietTime {
  /** A writer that pauses in the middle of a file for longer than this has made a version of it. */
  static final Duration LENGTH = Duration.ofMillis(100);

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final InstantSource clock;

  QuietTime(InstantSource clock) {
    this.clock = clock;
  }

  /**
   * Waits until the quiet time after a change is over; at most 2.1 seconds.
   *
   * @param changed the file's change time, in nanoseconds since 1970
   */
  void awaitAfter(long changed) {
    long left = left(changed);
    long end = System.nanoTime() + left;
    while (left > 0) {
      LockSupport.parkNanos(left);
      left = end - System.nanoTime();
    }
  }

  /** Returns the rest of the quiet time after a change, in nanoseconds. */
  long left(long changed) {
    Instant now = clock.instant();
    long age = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano() - changed;
    long quiet = LENGTH.toNanos() + tick(changed);
    return age < 0 ? quiet : Math.max(0, quiet - age);
  }

  /** Returns the longest tick, of those that matter, of a clock that gives such a time. */
  private static long tick(long time) {
    if (time % SECOND != 0) {
      return 0;
    }
    return time % (2 * SECOND) == 0 ? 2 * SECOND : SECOND;
  }
}
