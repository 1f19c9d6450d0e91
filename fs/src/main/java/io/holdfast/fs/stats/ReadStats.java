package io.holdfast.fs.stats;

import io.holdfast.fs.ErrorCounts;
import io.holdfast.fs.FsError;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** What applications' reads that reached the daemon cost, since the mount. Thread-safe. */
public final class ReadStats {
  private final LongAdder requests = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder errors = new LongAdder();
  private final ErrorCounts causes = new ErrorCounts();
  private final LongAdder stallNanos = new LongAdder();

  /** Counts a read that was answered, and the time that its thread was blocked by it alone. */
  public void answered(long length, long nanos) {
    requests.increment();
    bytes.add(length);
    stallNanos.add(nanos);
  }

  /** Counts a read that failed, why, and the time that its thread was blocked by it alone. */
  public void failed(FsError cause, long nanos) {
    requests.increment();
    errors.increment();
    causes.count(cause);
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

  /** Returns how many failed for which cause. */
  public Map<String, Long> errorsByCause() {
    return causes.byCause();
  }

  /** Returns the time that readers were blocked, all readers added up, in seconds. */
  public double stallSeconds() {
    return stallNanos.sum() / 1e9;
  }
}
