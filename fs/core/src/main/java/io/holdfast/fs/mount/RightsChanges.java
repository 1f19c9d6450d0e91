package io.holdfast.fs.mount;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.holdfast.fs.origin.Acl;
import io.holdfast.fs.origin.Attributes;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Directories whose rights have changed lately. The kernel first decides whether a user may pass a
 * directory, and then looks a name up in it, or waits for another user's lookup of the name. If the
 * directory is closed in between, the user would be given what has come into it since. So for some
 * time a lookup in such a directory is refused if its user may not pass by the rights of now; and
 * the kernel may not believe the answer to a lookup, so that it asks again for a user who has
 * waited for another one's. Thread-safe.
 */
final class RightsChanges {
  /** Longer than any call is between its two steps, but for one that waits for a silent origin. */
  static final Duration LASTING = Duration.ofSeconds(10);

  /** So many take some 10 MB. If more change within that time, some are not remembered. */
  private static final long MOST = 100_000;

  private static final int ALL_PASS = 0111;

  private final LongSupplier nanoTime;
  private final Cache<Long, Boolean> directories;
  private volatile long recentUntil;

  RightsChanges(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    directories =
        Caffeine.newBuilder()
            .expireAfterWrite(LASTING)
            .maximumSize(MOST)
            .ticker(nanoTime::getAsLong)
            .executor(Runnable::run)
            .build();
    recentUntil = nanoTime.getAsLong();
  }

  /**
   * Notes that a directory has got other rights.
   *
   * @param rights its attributes now; if they let all users pass, there is nobody to refuse
   */
  void note(long directory, Attributes rights) {
    if (!Acl.isAny(rights.acl()) && (rights.mode() & ALL_PASS) == ALL_PASS) {
      directories.invalidate(directory);
      return;
    }
    directories.put(directory, true);
    recentUntil = nanoTime.getAsLong() + LASTING.toNanos();
  }

  /** Tells whether a directory has got other rights lately, which do not let all users pass. */
  boolean isRecent(long directory) {
    return recentUntil - nanoTime.getAsLong() > 0 && directories.getIfPresent(directory) != null;
  }
}
