package io.holdfast.fs.transit;

import io.holdfast.fs.ErrorCounts;
import io.holdfast.fs.figures.FetchFigures;
import io.holdfast.fs.origin.OriginHealth;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** The counters of transit since the mount. Thread-safe. */
public final class TransitStats {
  private static final int DIGITS = 2;

  /** From the latency of a local disk to the deadline. */
  private static final long[] BOUNDS_MICROS = {
    100,
    250,
    500,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    30_000_000,
    60_000_000
  };

  /** Items, or parts of items, fetched whole from the origin. */
  public final LongAdder originItems = new LongAdder();

  /** Bytes that came from the origin. */
  public final LongAdder originBytes = new LongAdder();

  /** The latency of each fetch from the origin, in microseconds. */
  public final Histogram originMicros = new ConcurrentHistogram(DIGITS);

  /** Items, or parts of items, that a peer sent. */
  public final LongAdder peerItems = new LongAdder();

  /** Bytes that peers sent. */
  public final LongAdder peerBytes = new LongAdder();

  /** Fetches that failed for good. */
  public final LongAdder originErrors = new LongAdder();

  /** Failed fetches by cause. */
  public final ErrorCounts errors = new ErrorCounts();

  /** Attempts that were repeated after an error. */
  public final LongAdder originRetries = new LongAdder();

  /** Reads that joined a fetch of another reader. */
  public final LongAdder coalesced = new LongAdder();

  /** Fetches in flight. */
  public final LongAdder inFlight = new LongAdder();

  TransitStats() {}

  /**
   * Returns the figures of the origin.
   *
   * @param turns the load of the origin
   * @param health whether the origin answers
   */
  public FetchFigures.Origin fromOrigin(Fetchers.Figures turns, OriginHealth health) {
    return new FetchFigures.Origin(
        originItems.sum(),
        originBytes.sum(),
        originErrors.sum(),
        originRetries.sum(),
        turns.limit(),
        turns.inFlight(),
        turns.queued(),
        turns.stuck(),
        health.silent(),
        health.silences(),
        health.unansweredSeconds(),
        micros(50),
        micros(99),
        durations());
  }

  private long micros(double percent) {
    return originMicros.getTotalCount() == 0 ? 0 : originMicros.getValueAtPercentile(percent);
  }

  private FetchFigures.Durations durations() {
    // the mean of a histogram that grows meanwhile would be wrong
    Histogram micros = originMicros.copy();
    long count = micros.getTotalCount();
    Map<String, Long> upTo = new LinkedHashMap<>();
    for (long bound : BOUNDS_MICROS) {
      upTo.put(Double.toString(bound / 1e6), Math.min(count, upTo(micros, bound)));
    }
    double seconds = Math.round(micros.getMean() * count / 1000) / 1000.0;
    return new FetchFigures.Durations(count, seconds, upTo);
  }

  private static long upTo(Histogram micros, long bound) {
    return micros.getTotalCount() == 0 ? 0 : micros.getCountBetweenValues(0, bound);
  }
}
