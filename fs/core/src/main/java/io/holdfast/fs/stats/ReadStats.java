package io.holdfast.fs.stats;

import io.holdfast.fs.ErrorCounts;
import io.holdfast.fs.FsError;
import io.holdfast.fs.figures.ReadFigures;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Counts applications' reads that reached the daemon, since the mount. Thread-safe. */
public final class ReadStats {
  private final LongAdder requests = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder errors = new LongAdder();
  private final ErrorCounts causes = new ErrorCounts();
  private final LongAdder stallNanos = new LongAdder();

  /**
   * Counts a read that was answered, and the time during which this read alone blocked its thread.
   */
  public void answered(long length, long nanos) {
    requests.increment();
    bytes.add(length);
    stallNanos.add(nanos);
  }

  /**
   * Counts a read that failed, with its cause, and the time during which this read alone blocked
   * its thread.
   */
  public void failed(FsError cause, long nanos) {
    requests.increment();
    errors.increment();
    causes.count(cause);
    stallNanos.add(nanos);
  }

  /** Returns the figures of this moment. */
  public ReadFigures figures() {
    double stall = Math.round(stallNanos.sum() / 1e6) / 1000.0;
    return new ReadFigures(requests.sum(), bytes.sum(), errors.sum(), stall);
  }

  /** Returns the number of failed reads by cause. */
  public Map<String, Long> errorsByCause() {
    return causes.byCause();
  }
}
