package io.holdfast.fs.mount;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.origin.Acl;
import io.holdfast.fs.origin.Attributes;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Directories that were closed to some users lately. The kernel first decides whether a user may
 * pass a directory, and then looks a name up in it, or waits for another user's lookup of the name.
 * If the directory, or one above it, is closed in between, the user would be given what has come
 * into it since. So for some time a lookup below is refused if its user may not pass by the rights
 * of now; and the kernel may not believe the answer to a lookup, so that it asks again for a user
 * who has waited for another one's. That time begins anew when the directory is opened to all:
 * answers from before are still on their way. Thread-safe.
 */
final class RightsChanges {
  /** Longer than any call is between its two steps, but for one that waits for a silent origin. */
  static final Duration LASTING = Duration.ofSeconds(10);

  /** So many take some 10 MB. If more change within that time, all count as closed lately. */
  private static final long MOST = 100_000;

  private static final int ALL_PASS = 0111;

  private final LongSupplier nanoTime;

  /** By directory, the number of its last change. */
  private final Cache<Long, Long> directories;

  private final AtomicLong changes = new AtomicLong();
  private volatile long recentUntil;

  /** All directories count as closed lately until then: one of them found no room. */
  private volatile long allUntil;

  RightsChanges(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    directories =
        Caffeine.newBuilder()
            .expireAfterWrite(LASTING)
            .maximumSize(MOST)
            .evictionListener(
                (directory, change, cause) -> {
                  if (cause == RemovalCause.SIZE) {
                    allUntil = recentUntil; // a user who closes many of their own hides no other
                  }
                })
            .ticker(nanoTime::getAsLong)
            .executor(Runnable::run)
            .build();
    recentUntil = nanoTime.getAsLong();
    allUntil = recentUntil;
  }

  /**
   * Notes that a directory has got other rights. Does not fail where the heap is full.
   *
   * @param rights its attributes now
   */
  void note(long directory, Attributes rights) {
    boolean allPass = !Acl.isAny(rights.acl()) && (rights.mode() & ALL_PASS) == ALL_PASS;
    if (allPass && last(directory) == 0) {
      return; // it was closed to nobody, or so long ago that all who had passed before are through
    }
    long until = nanoTime.getAsLong() + LASTING.toNanos();
    long change = changes.incrementAndGet();
    recentUntil = until;
    try {
      directories.put(directory, change);
    } catch (OutOfMemoryError e) {
      allUntil = until;
      OutOfMemory.tell(e);
    }
  }

  /** Tells whether any directory was closed to some users lately. */
  boolean areAny() {
    return recentUntil - nanoTime.getAsLong() > 0;
  }

  /**
   * Returns a number for the last change of a directory that was closed to some users lately, or 0
   * for any other directory. Each change has a higher number than those before.
   */
  long last(long directory) {
    if (!areAny()) {
      return 0;
    }
    if (allUntil - nanoTime.getAsLong() > 0) {
      return changes.get();
    }
    Long change = directories.getIfPresent(directory);
    return change == null ? 0 : change;
  }
}
