package io.holdfast.peer.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what happens on other threads, for 20 s at most. */
final class Eventually {
  private static final long LONGEST_NANOS = 20_000_000_000L;
  private static final long STEP_NANOS = 2_000_000;

  private Eventually() {}

  static void holds(String what, BooleanSupplier condition) {
    long end = System.nanoTime() + LONGEST_NANOS;
    while (!condition.getAsBoolean() && System.nanoTime() - end < 0) {
      LockSupport.parkNanos(STEP_NANOS);
    }
    assertThat(condition.getAsBoolean()).as(what).isTrue();
  }
}
