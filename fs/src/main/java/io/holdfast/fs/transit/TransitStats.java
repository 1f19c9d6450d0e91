package io.holdfast.fs.transit;

import io.holdfast.fs.ErrorCounts;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** What transit counts, since the mount. Thread-safe. */
public final class TransitStats {
  private static final int DIGITS = 2;

  /** Items, or parts of items, fetched whole from the origin. */
  public final LongAdder originItems = new LongAdder();

  /** Bytes that came from the origin. */
  public final LongAdder originBytes = new LongAdder();

  /** How long the origin took for each of them, in microseconds. */
  public final Histogram originMicros = new ConcurrentHistogram(DIGITS);

  /** Items, or parts of items, that a peer sent. */
  public final LongAdder peerItems = new LongAdder();

  /** Bytes that peers sent. */
  public final LongAdder peerBytes = new LongAdder();

  /** Fetches that failed for good. */
  public final LongAdder originErrors = new LongAdder();

  /** The same, by cause. */
  public final ErrorCounts errors = new ErrorCounts();

  /** Attempts that were made again after an error. */
  public final LongAdder originRetries = new LongAdder();

  /** Reads that joined a fetch which another reader had started. */
  public final LongAdder coalesced = new LongAdder();

  /** Fetches under way. */
  public final LongAdder inFlight = new LongAdder();

  TransitStats() {}
}
