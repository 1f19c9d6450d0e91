package io.holdfast.peer.membership;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts refused connections, and logs them once a minute. Thread-safe. */
final class RejectedConnections {
  private static final Logger log = LoggerFactory.getLogger(RejectedConnections.class);
  private static final long MINUTE_NANOS = 60_000_000_000L;

  private final LongSupplier nanoTime;
  private final LongAdder count = new LongAdder();
  private final AtomicLong nextLine;

  RejectedConnections(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    nextLine = new AtomicLong(nanoTime.getAsLong());
  }

  /** Counts a connection; returns whether it was logged. */
  boolean add(String who, String why) {
    count.increment();
    long now = nanoTime.getAsLong();
    long next = nextLine.get();
    if (now - next < 0 || !nextLine.compareAndSet(next, now + MINUTE_NANOS)) {
      return false;
    }
    log.warn(
        "refused a connection for membership, {} since the start; this one with {}: {}",
        count.sum(),
        who,
        why);
    return true;
  }

  long count() {
    return count.sum();
  }
}
