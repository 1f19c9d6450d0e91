package io.holdfast.fs.transit;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.Origin.Part;
import io.holdfast.fs.origin.OriginFile;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Brings the bytes of a fetch from the origin: in steps, each checked to be of the version that is
 * wanted, and again where an error may pass. Thread-safe.
 */
final class OriginReader {
  /** How much is read from the origin before those who wait for it are answered. */
  private static final int STEP = 1 << 20;

  private static final int ATTEMPTS = 3;
  private static final long RETRY_NANOS = Duration.ofMillis(20).toNanos();

  /** The longest pause between attempts, in those before the second one. */
  private static final int MOST_PAUSES = 50;

  private final Origin origin;
  private final Fetchers fetchers;
  private final TransitStats stats;
  private final LongSupplier nanoTime;
  private final long patienceNanos;

  /**
   * Creates one.
   *
   * @param fetchers learn how the origin copes
   * @param patience how long an origin that does not answer is asked again
   */
  OriginReader(
      Origin origin,
      Fetchers fetchers,
      TransitStats stats,
      LongSupplier nanoTime,
      Duration patience) {
    this.origin = origin;
    this.fetchers = fetchers;
    this.stats = stats;
    this.nanoTime = nanoTime;
    this.patienceNanos = patience.toNanos();
  }

  /**
   * Makes sure that the origin may be asked.
   *
   * @throws RejectedExecutionException whose cause says why not
   */
  void requireAnswers(Item item) {
    if (origin.health().silent()) {
      throw new RejectedExecutionException(
          new FsException(FsError.ORIGIN_SILENT, item + ": the origin does not answer"));
    }
  }

  /** Returns for how long from now the bytes of an item are not to be read yet. */
  long quietNanos(Item item) {
    return origin.quietNanos(item.version());
  }

  boolean isSilent() {
    return origin.health().silent();
  }

  /** Returns whether all of it is there; not where the fetch was given up meanwhile. */
  boolean fetch(Fetch fetch, long address) throws FsException {
    for (int attempt = 1; ; attempt++) {
      long start = nanoTime.getAsLong();
      int before = fetch.arrived();
      try {
        boolean whole = fetchOnce(fetch, address);
        arrived(fetch.arrived() - before, nanoTime.getAsLong() - start);
        return whole;
      } catch (FsException e) {
        boolean passing = e.code() == FsError.IO || e.code() == FsError.TIMED_OUT;
        if (passing) {
          fetchers.failed();
        }
        if (!passing || (attempt >= ATTEMPTS && !isWaitedFor(fetch, e))) {
          throw e;
        }
        stats.originRetries.increment();
        LockSupport.parkNanos(RETRY_NANOS * Math.min(attempt, MOST_PAUSES));
      }
    }
  }

  /** A store whose requests end by a deadline of their own may be waited for longer than that. */
  private boolean isWaitedFor(Fetch fetch, FsException failure) {
    return failure.code() == FsError.TIMED_OUT
        && fetch.isRunning()
        && nanoTime.getAsLong() - fetch.started() < patienceNanos;
  }

  private void arrived(int bytes, long nanos) {
    if (bytes > 0) {
      stats.originMicros.recordValue(TimeUnit.NANOSECONDS.toMicros(nanos));
      fetchers.arrived(bytes, nanos);
    }
  }

  /**
   * Reads what is missing; each step is checked to be of the expected version before anybody gets
   * to see it.
   */
  private boolean fetchOnce(Fetch fetch, long address) throws FsException {
    Item item = fetch.item();
    try (OriginFile file = open(item)) {
      int done = fetch.arrived();
      while (done < item.length() && fetch.isRunning()) {
        int step = Math.min(STEP, item.length() - done);
        int count = file.read(item.offset() + done, address + done, step);
        checkVersion(file, item);
        if (count < step) {
          // the version is the one that has them: the store gave less than there is
          throw new FsException(
              FsError.IO,
              "%s: the origin gave %d of %d bytes".formatted(item.path().get(), count, step));
        }
        stats.originBytes.add(count);
        done += count;
        fetch.advance(done, ReadSource.ORIGIN);
      }
      file.discard(item.offset(), item.length());
      return done == item.length();
    }
  }

  private OriginFile open(Item item) throws FsException {
    try {
      return origin.open(item.path().get(), new Part(item.version(), item.offset(), item.length()));
    } catch (FsException e) {
      boolean gone =
          switch (e.code()) {
            case NOT_FOUND, NOT_DIRECTORY, IS_DIRECTORY, SYMLINK -> true;
            default -> false;
          };
      throw gone ? stale(item) : e;
    }
  }

  private static void checkVersion(OriginFile file, Item item) throws FsException {
    if (!file.version().equals(item.version())) {
      throw stale(item);
    }
  }

  private static FsException stale(Item item) {
    return new FsException(FsError.STALE, item.path().get() + ": changed at the origin");
  }
}
