package io.holdfast.fs.origin.posix;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits until a file has been left alone for a while. A file that is rewritten in place shows its
 * new time of change from the first changed byte on, and between two writes it looks like any other
 * file: a version of its own, half old and half new. Only time tells that its writer is done.
 *
 * <p>And a write that follows within a tick of the store's clock shows the same time again. So
 * content is read only when the tick is over: whatever is written later shows another time. The
 * tick follows from the time itself. One in whole seconds may be of a clock that knows no others
 * (ext4 with inodes of 128 bytes, many NFS servers and gateways), and one in even seconds of a
 * clock with ticks of two (FAT). A finer clock gives such times by chance, seldom, and what that
 * costs is a wait. Ticks below a second are shorter than the quiet time.
 *
 * <p>The idea is git's, which does not trust an index entry as young as the file ("racy git"). The
 * time of change is compared, which nobody can set. One in the future is of a clock that is ahead:
 * it was that late there when the file was looked at, so it is the whole time from now. A clock
 * that is behind is not noticed. Thread-safe.
 */
final class QuietTime {
  /** A writer that pauses for longer than this in the middle of a file has made a version of it. */
  static final Duration LENGTH = Duration.ofMillis(100);

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final InstantSource clock;

  QuietTime(InstantSource clock) {
    this.clock = clock;
  }

  /**
   * Waits until the quiet time after a change is over; at most 2.1 seconds.
   *
   * @param changed when the file was changed last, in nanoseconds since 1970
   */
  void awaitAfter(long changed) {
    long left = left(changed);
    long end = System.nanoTime() + left;
    while (left > 0) {
      LockSupport.parkNanos(left);
      left = end - System.nanoTime();
    }
  }

  /** Returns how much of the quiet time after a change is left now, in nanoseconds. */
  long left(long changed) {
    Instant now = clock.instant();
    long age = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano() - changed;
    long quiet = LENGTH.toNanos() + tick(changed);
    return age < 0 ? quiet : Math.max(0, quiet - age);
  }

  /** Returns the longest tick of a clock that gives such a time, of those that matter. */
  private static long tick(long time) {
    if (time % SECOND != 0) {
      return 0;
    }
    return time % (2 * SECOND) == 0 ? 2 * SECOND : SECOND;
  }
}
