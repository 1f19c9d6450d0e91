package io.holdfast.fs.stats;

import io.holdfast.fs.ErrorCounts;
import io.holdfast.fs.FsError;
import io.holdfast.fs.ReadSource;
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
  private final LongAdder peerStallNanos = new LongAdder();

  /**
   * Counts a read that was answered.
   *
   * @param nanos the time during which this read alone blocked its thread
   * @param tier the tier that answered
   */
  public void answered(long length, long nanos, ReadSource tier) {
    requests.increment();
    bytes.add(length);
    stalled(nanos, tier);
  }

  /**
   * Counts a read that failed.
   *
   * @param nanos the time during which this read alone blocked its thread
   * @param tier the tier that it waited for
   */
  public void failed(FsError cause, long nanos, ReadSource tier) {
    requests.increment();
    errors.increment();
    causes.count(cause);
    stalled(nanos, tier);
  }

  private void stalled(long nanos, ReadSource tier) {
    stallNanos.add(nanos);
    if (tier == ReadSource.PEER) {
      peerStallNanos.add(nanos);
    }
  }

  /** Returns the figures of this moment. */
  public ReadFigures figures() {
    return new ReadFigures(
        requests.sum(),
        bytes.sum(),
        errors.sum(),
        JobCounts.seconds(stallNanos.sum()),
        JobCounts.seconds(peerStallNanos.sum()));
  }

  /** Returns the number of failed reads by cause. */
  public Map<String, Long> errorsByCause() {
    return causes.byCause();
  }
}
