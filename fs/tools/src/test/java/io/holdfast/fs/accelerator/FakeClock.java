package io.holdfast.fs.accelerator;

/** A clock that only goes on when somebody waits by it, or sets it. Used by one thread. */
final class FakeClock implements Clock {
  private long nanos;

  /** How late each sleeper wakes up. */
  private final long lateness;

  FakeClock(long begin, long lateness) {
    this.nanos = begin;
    this.lateness = lateness;
  }

  @Override
  public long nanoTime() {
    return nanos;
  }

  @Override
  public void sleepUntil(long until) {
    if (until - nanos > 0) {
      nanos = until + lateness;
    }
  }

  /** Goes on to a time, unless it is over. */
  void advanceTo(long until) {
    nanos = Math.max(nanos, until);
  }
}
