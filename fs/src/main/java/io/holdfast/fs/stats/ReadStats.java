package io.holdfast.fs.stats;

import java.util.concurrent.atomic.LongAdder;

/** What applications' reads that reached the daemon cost, since the mount. Thread-safe. */
public final class ReadStats {
  private final LongAdder requests = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder errors = new LongAdder();
  private final LongAdder stallNanos = new LongAdder();

  /** Counts a read that was answered, and the time its reader was blocked. */
  public void answered(long length, long nanos) {
    requests.increment();
    bytes.add(length);
    stallNanos.add(nanos);
  }

  /** Counts a read that failed, and the time its reader was blocked. */
  public void failed(long nanos) {
    requests.increment();
    errors.increment();
    stallNanos.add(nanos);
  }

  /** Returns how many reads there were. */
  public long requests() {
    return requests.sum();
  }

  /** Returns the bytes that were delivered. */
  public long bytes() {
    return bytes.sum();
  }

  /** Returns how many reads failed. */
  public long errors() {
    return errors.sum();
  }

  /** Returns the time that readers were blocked, all readers added up, in seconds. */
  public double stallSeconds() {
    return stallNanos.sum() / 1e9;
  }
}
