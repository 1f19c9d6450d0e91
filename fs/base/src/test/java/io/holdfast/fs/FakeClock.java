package io.holdfast.fs;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** A clock of nanoseconds that moves when a test says so. Thread-safe. */
public final class FakeClock implements LongSupplier {
  private final AtomicLong now = new AtomicLong(1_000_000_007L);

  @Override
  public long getAsLong() {
    return now.get();
  }

  /** Moves the clock. */
  public void advance(Duration by) {
    now.addAndGet(by.toNanos());
  }
}
