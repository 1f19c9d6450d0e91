package io.holdfast.fs.orders;

/**
 * How many bytes have to be ahead of a job: what it reads in twice the time of a fetch, and in four
 * times the deviation from that time, so that a fetch that takes longer than most is in time. While
 * readers wait, twice their rate is the next window, until they wait no more. Not thread-safe.
 *
 * <p>Sources: the product of bandwidth and delay, as in Cardwell et al., "BBR: Congestion-Based
 * Congestion Control", ACM Queue 14 (2016); mean and deviation of the time as in Jacobson,
 * "Congestion Avoidance and Control", SIGCOMM (1988).
 */
final class BandwidthDelay {
  /** The time over which a rate is measured; the first rate is wanted sooner. */
  private static final long RATE_NANOS = 200_000_000;

  private static final long FIRST_RATE_NANOS = 50_000_000;

  private double latencyNanos;
  private double deviationNanos;
  private double bytesPerNano;
  private long since;
  private long bytes;

  /** Whether the rate is measured from the next look on: the first file has just been opened. */
  private boolean begins;

  BandwidthDelay(long now) {
    since = now;
  }

  /** Takes over what another one has measured. */
  void follow(BandwidthDelay before) {
    latencyNanos = before.latencyNanos;
    deviationNanos = before.deviationNanos;
    bytesPerNano = before.bytesPerNano;
  }

  /** Returns what has been measured so far. */
  BandwidthDelay copy() {
    BandwidthDelay copy = new BandwidthDelay(since);
    copy.follow(this);
    return copy;
  }

  /** Notes how long a fetch took. */
  void fetched(long nanos) {
    if (latencyNanos == 0) {
      latencyNanos = nanos;
      return;
    }
    deviationNanos = (3 * deviationNanos + Math.abs(nanos - latencyNanos)) / 4;
    latencyNanos = (7 * latencyNanos + nanos) / 8;
  }

  /** Notes that the job begins to read. */
  void begin() {
    begins = true;
  }

  /** Notes that the job reads so many bytes. */
  void read(long count) {
    bytes += count;
  }

  /**
   * Returns the bytes to have ahead.
   *
   * @param reads whether the job has begun to read
   */
  long bytes(long now, boolean reads) {
    if (begins || !reads) {
      begins = false;
      since = now;
    }
    long nanos = now - since;
    if (nanos >= (bytesPerNano == 0 ? FIRST_RATE_NANOS : RATE_NANOS)) {
      double recent = (double) bytes / nanos;
      bytesPerNano = Math.max(recent, (3 * bytesPerNano + recent) / 4);
      since = now;
      bytes = 0;
    }
    return (long) ((2 * latencyNanos + 4 * deviationNanos) * bytesPerNano);
  }
}
