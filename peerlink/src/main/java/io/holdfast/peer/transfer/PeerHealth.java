package io.holdfast.peer.transfer;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowType;
import io.github.resilience4j.core.IntervalFunction;
import io.holdfast.peer.NodeAddress;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.SynchronizedHistogram;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The health of a peer, and whether requests to it are suspended. Thread-safe.
 *
 * <p>One fault makes the peer suspect, and so does {@link #suspend}. After a second, one request
 * may try again. As long as the attempts fail, the pause doubles, up to half a minute, with jitter
 * so that the nodes of a cluster do not all retry at once.
 */
final class PeerHealth {
  private static final Logger LOG = LoggerFactory.getLogger(PeerHealth.class);
  private static final Duration FIRST_WAIT = Duration.ofSeconds(1);
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(30);
  private static final double JITTER = 0.2;
  private static final int DIGITS = 2;
  private static final CircuitBreakerConfig CONFIG =
      CircuitBreakerConfig.custom()
          .slidingWindowType(SlidingWindowType.COUNT_BASED)
          .slidingWindowSize(1)
          .minimumNumberOfCalls(1)
          .failureRateThreshold(100)
          .permittedNumberOfCallsInHalfOpenState(1)
          .waitIntervalFunctionInOpenState(
              IntervalFunction.ofExponentialRandomBackoff(FIRST_WAIT, 2, JITTER, LONGEST_WAIT))
          .writableStackTraceEnabled(false)
          .clock(new SteadyClock())
          .build();

  private final NodeAddress peer;
  private final CircuitBreaker breaker;
  private final SynchronizedHistogram micros = new SynchronizedHistogram(DIGITS);
  private final AtomicLong resident = new AtomicLong(-1);
  private final LongAdder itemsIn = new LongAdder();
  private final LongAdder bytesIn = new LongAdder();
  private final LongAdder itemsOut = new LongAdder();
  private final LongAdder bytesOut = new LongAdder();
  private final LongAdder errors = new LongAdder();
  private final LongAdder allErrors;

  private volatile PeerFigures.Load load = new PeerFigures.Load(0, 0, 0);

  /** Guarded by this. */
  private boolean suspect;

  /** Guarded by this. */
  private Instant since = Instant.now();

  /**
   * Begins without a fault.
   *
   * @param allErrors counts the faults of all peers, including forgotten ones
   */
  PeerHealth(NodeAddress peer, LongAdder allErrors) {
    this.peer = peer;
    this.allErrors = allErrors;
    breaker = CircuitBreaker.of(peer.toString(), CONFIG);
  }

  /** Tells whether the peer may be asked; the caller then reports the outcome, once. */
  boolean mayAsk() {
    return breaker.tryAcquirePermission();
  }

  /** Reports that the peer was not asked after all. */
  void notAsked() {
    breaker.releasePermission();
  }

  /** Reports a correct answer. */
  void well() {
    breaker.onSuccess(0, TimeUnit.NANOSECONDS);
    note("");
  }

  /** Counts the bytes of an item, or of a part of an item, that have arrived. */
  void received(int bytes, long nanos) {
    itemsIn.increment();
    bytesIn.add(bytes);
    micros.recordValue(TimeUnit.NANOSECONDS.toMicros(Math.max(0, nanos)));
  }

  /** Reports a fault of the peer or of the network. */
  void fault(String detail) {
    errors.increment();
    allErrors.increment();
    suspend(detail);
  }

  /** Suspends requests to the peer, as after a fault. */
  void suspend(String reason) {
    breaker.onError(0, TimeUnit.NANOSECONDS, new IOException(reason));
    note(reason);
  }

  private synchronized void note(String detail) {
    boolean now = breaker.getState() != CircuitBreaker.State.CLOSED;
    if (now == suspect) {
      return;
    }
    suspect = now;
    since = Instant.now();
    if (now) {
      LOG.warn("peer {} is left alone for a while: {}", peer, RejectedRequests.printable(detail));
    } else {
      LOG.info("peer {} is well again", peer);
    }
  }

  synchronized boolean isSuspect() {
    return suspect;
  }

  void load(PeerFigures.Load now) {
    load = now;
  }

  void sent(int bytes) {
    itemsOut.increment();
    bytesOut.add(bytes);
  }

  void resident(long bytes) {
    resident.set(bytes);
  }

  synchronized PeerFigures figures() {
    return new PeerFigures(
        peer,
        suspect,
        since,
        resident.get(),
        itemsIn.sum(),
        bytesIn.sum(),
        itemsOut.sum(),
        bytesOut.sum(),
        errors.sum(),
        load,
        percentile(50),
        percentile(99));
  }

  private Duration percentile(double percent) {
    return Duration.of(
        micros.getTotalCount() == 0 ? 0 : micros.getValueAtPercentile(percent), ChronoUnit.MICROS);
  }
}
