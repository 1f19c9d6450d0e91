package io.holdfast.fs.transit;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.Origin.Part;
import io.holdfast.fs.origin.OriginFile;
import io.holdfast.fs.origin.Version;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;

/**
 * Reads the bytes of a fetch from the origin, in steps. Checks the version of each step, and
 * retries errors that may pass. Thread-safe.
 */
final class OriginReader {
  /** Bytes that are read from the origin before waiting readers are answered. */
  private static final int STEP = 1 << 20;

  private static final int ATTEMPTS = 3;
  private static final long RETRY_NANOS = Duration.ofMillis(20).toNanos();

  /** The longest pause between attempts, in multiples of the pause before the second attempt. */
  private static final int MOST_PAUSES = 50;

  private final Origin origin;
  private final Fetchers fetchers;
  private final TransitStats stats;
  private final LongSupplier nanoTime;
  private final long patienceNanos;

  /**
   * Creates a reader.
   *
   * @param fetchers learn the latency and the failures of the origin
   * @param patience how long to retry an origin whose requests time out, from the first reader on
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
   * Requires that the origin may be asked.
   *
   * @throws RejectedExecutionException its cause tells why not
   */
  void requireAnswers(Item item) {
    if (origin.health().silent()) {
      throw new RejectedExecutionException(
          new FsException(FsError.ORIGIN_SILENT, item + ": the origin does not answer"));
    }
  }

  /** Returns for how long the bytes of an item must not be read yet. */
  long quietNanos(Item item) {
    return origin.quietNanos(item.version());
  }

  boolean isSilent() {
    return origin.health().silent();
  }

  /**
   * Reads the missing bytes of a fetch, once. The fetch has memory.
   *
   * @param arrived takes the end of the bytes that have arrived and were checked
   * @return whether all bytes have arrived; false where the fetch was given up meanwhile
   */
  boolean read(Fetch fetch, IntConsumer arrived) throws FsException {
    long start = nanoTime.getAsLong();
    int before = fetch.arrived();
    fetch.attempt();
    boolean whole = readMissing(fetch, arrived);
    note(fetch.arrived() - before, nanoTime.getAsLong() - start);
    return whole;
  }

  /**
   * Returns the pause before the origin is asked again.
   *
   * @throws FsException the failure, where the origin is not asked again
   */
  long pauseAfter(Fetch fetch, FsException failure) throws FsException {
    boolean passing = failure.code() == FsError.IO || failure.code() == FsError.TIMED_OUT;
    if (passing) {
      fetchers.failed();
    }
    int attempts = fetch.attempts();
    if (!passing || (attempts >= ATTEMPTS && !isWaitedFor(fetch, failure))) {
      throw failure;
    }
    stats.originRetries.increment();
    return RETRY_NANOS * Math.min(attempts, MOST_PAUSES);
  }

  /**
   * Tells whether to retry beyond the usual attempts: a store whose requests time out by their own
   * deadline, or that is overloaded or starts again, may need longer.
   */
  private boolean isWaitedFor(Fetch fetch, FsException failure) {
    return failure.code() == FsError.TIMED_OUT
        && fetch.isRunning()
        && fetch.hasTime(nanoTime.getAsLong(), patienceNanos);
  }

  private void note(int bytes, long nanos) {
    if (bytes > 0) {
      stats.originMicros.recordValue(TimeUnit.NANOSECONDS.toMicros(nanos));
      fetchers.arrived(bytes, nanos);
    }
  }

  /**
   * Reads the missing bytes; checks the version of each step before any reader gets its bytes. Only
   * after the last step the store itself is asked: that costs a round trip.
   */
  private boolean readMissing(Fetch fetch, IntConsumer arrived) throws FsException {
    Item item = fetch.item();
    long address = fetch.address();
    try (OriginFile file = open(item)) {
      int done = fetch.arrived();
      while (done < item.length() && fetch.isRunning()) {
        int step = Math.min(STEP, item.length() - done);
        int count = file.read(item.offset() + done, address + done, step);
        boolean last = done + step == item.length();
        checkVersion(last ? file.storedVersion() : file.version(), item);
        if (count < step) {
          // the version is right, so the store returned fewer bytes than the file has
          throw new FsException(
              FsError.IO,
              "%s: the origin gave %d of %d bytes".formatted(item.path().get(), count, step));
        }
        stats.originBytes.add(count);
        done += count;
        arrived.accept(done);
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

  private static void checkVersion(Version now, Item item) throws FsException {
    if (!now.equals(item.version())) {
      throw stale(item);
    }
  }

  private static FsException stale(Item item) {
    return new FsException(FsError.STALE, item.path().get() + ": changed at the origin");
  }
}
