package io.holdfast.fs.origin;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowType;
import io.github.resilience4j.core.IntervalFunction;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A circuit breaker for an origin that does not answer. Thread-safe.
 *
 * <p><b>Opens</b> when a call has waited for an answer for as long as the patience, no bytes of any
 * file have arrived in that time, and a probe has not been answered either. So neither a file that
 * takes minutes to come from a tape nor an unreadable file opens the breaker. Attributes and names
 * do not count as answers: caches on the way may know them.
 *
 * <p><b>Closes</b> at the first answer, either to a probe, which is sent after one second and then
 * after pauses of up to four, or to a stuck call. While a probe hangs, further ones are sent, up to
 * {@link #MOST_PROBES}: a lost connection may never fail.
 *
 * <p>A process that was stopped for a while does not blame the origin for that time.
 */
public final class OriginBreaker {
  /** Most probes that may be stuck. */
  static final int MOST_PROBES = 10;

  private static final Duration TICK = Duration.ofSeconds(1);

  private static final Logger log = LoggerFactory.getLogger(OriginBreaker.class);
  private static final Duration LATE = Duration.ofSeconds(3);
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(4);
  private static final double JITTER = 0.2;

  private final String name;
  private final Probe probe;
  private final long patienceNanos;
  private final Executor threads;
  private final LongSupplier nanoTime;
  private final CircuitBreaker breaker;
  private volatile boolean silent;

  // the monitor guards the following fields

  /** Calls that have not returned. */
  private int asked;

  /** Whether a call waits for an answer, or has failed without one. */
  private boolean unanswered;

  private boolean failed;
  private long since;
  private long lastTick;
  private int probes;
  private @Nullable Attempt last;
  private long silences;

  /** Makes the origin answer a request that no cache can answer. */
  @FunctionalInterface
  public interface Probe {
    /** Returns when the origin has answered. */
    void ask() throws FsException;
  }

  /** A call of the origin. */
  @FunctionalInterface
  interface Call<T> {
    T ask() throws FsException;
  }

  /** A probe that was sent. */
  private static final class Attempt {
    private long started;
    private boolean failed;

    Attempt(long started) {
      this.started = started;
    }

    boolean isVain(long now) {
      return failed || now - started >= LATE.toNanos();
    }
  }

  /**
   * Creates a breaker for an origin that answers.
   *
   * @param name the origin's name, for the log
   * @param patience how long the origin may be silent
   * @param threads run probes, each of which may never return
   * @param nanoTime a clock of nanoseconds
   */
  public OriginBreaker(
      String name, Probe probe, Duration patience, Executor threads, LongSupplier nanoTime) {
    this.name = name;
    this.probe = probe;
    this.patienceNanos = patience.toNanos();
    this.threads = threads;
    this.nanoTime = nanoTime;
    this.lastTick = nanoTime.getAsLong();
    this.breaker =
        CircuitBreaker.of(
            name,
            CircuitBreakerConfig.custom()
                .slidingWindowType(SlidingWindowType.COUNT_BASED)
                .slidingWindowSize(1)
                .minimumNumberOfCalls(1)
                .failureRateThreshold(100)
                .permittedNumberOfCallsInHalfOpenState(1)
                .waitIntervalFunctionInOpenState(
                    IntervalFunction.ofExponentialRandomBackoff(
                        FIRST_PAUSE, 2, JITTER, LONGEST_PAUSE))
                .writableStackTraceEnabled(false)
                .clock(new SteadyClock(nanoTime))
                .build());
  }

  /** Tells whether the origin must not be asked. */
  boolean isSilent() {
    return silent;
  }

  /**
   * Requires that the origin may be asked.
   *
   * @param path the path of the request, for the message
   * @throws FsException ORIGIN_SILENT where the origin does not answer
   */
  void require(OriginPath path) throws FsException {
    if (silent) {
      throw new FsException(FsError.ORIGIN_SILENT, path + ": the origin does not answer");
    }
  }

  /**
   * Makes a call that a cache may answer: its answer proves nothing, but a missing answer counts.
   */
  <T> T ask(Call<T> call) throws FsException {
    return ask(call, false);
  }

  /** Makes a call for bytes of a file. */
  <T> T askForBytes(Call<T> call) throws FsException {
    return ask(call, true);
  }

  /** Makes a call that returns nothing and that a cache may answer. */
  void run(Probe call) throws FsException {
    Boolean unused =
        ask(
            () -> {
              call.ask();
              return true;
            },
            false);
  }

  private <T> T ask(Call<T> call, boolean bytes) throws FsException {
    begun();
    boolean answers = false;
    boolean fails = true;
    try {
      T answer = call.ask();
      answers = bytes;
      fails = false;
      return answer;
    } catch (FsException e) {
      fails = isNoAnswer(e.code());
      answers = bytes && !fails;
      throw e;
    } finally {
      ended(answers, fails);
    }
  }

  private static boolean isNoAnswer(FsError code) {
    return switch (code) {
      case IO, TIMED_OUT, UNAVAILABLE, NO_MEMORY -> true;
      default -> false;
    };
  }

  private synchronized void begun() {
    asked++;
    if (!unanswered) {
      unanswered = true;
      failed = false;
      since = nanoTime.getAsLong();
    }
  }

  private synchronized void ended(boolean answers, boolean fails) {
    asked--;
    failed |= fails;
    if (answers) {
      answered();
    } else if (asked == 0 && !failed && !silent) {
      unanswered = false;
    }
  }

  /** Records an answer; waiting calls wait anew from now. */
  private synchronized void answered() {
    long now = nanoTime.getAsLong();
    if (silent) {
      log.info("the origin {} answers again, after {} s", name, seconds(now - since));
      silent = false;
      breaker.transitionToClosedState();
    }
    unanswered = asked > 0;
    failed = false;
    since = now;
    last = null;
  }

  private static long seconds(long nanos) {
    return TimeUnit.NANOSECONDS.toSeconds(nanos);
  }

  /** Opens, closes or probes as is due. Called once a second. */
  void tick() {
    Attempt next;
    synchronized (this) {
      long now = nanoTime.getAsLong();
      forgiveOwnSleep(now);
      next = silent ? nextWhileSilent(now) : unanswered ? nextWhileWaiting(now) : null;
    }
    if (next != null) {
      send(next);
    }
  }

  private synchronized void forgiveOwnSleep(long now) {
    long slept = now - lastTick - TICK.toNanos();
    lastTick = now;
    if (slept > TICK.toNanos()) {
      since += slept;
      if (last != null) {
        last.started += slept;
      }
    }
  }

  private synchronized @Nullable Attempt nextWhileWaiting(long now) {
    long quiet = now - since;
    if (quiet < patienceNanos / 2) {
      return null;
    }
    boolean vain = probes >= MOST_PROBES || (last != null && last.isVain(now));
    if (vain && quiet >= patienceNanos) {
      silent = true;
      silences++;
      breaker.onError(0, TimeUnit.NANOSECONDS, new IOException(name));
      log.warn(
          "the origin {} has not answered for {} s: until it does, what needs it fails at once",
          name,
          seconds(quiet));
      return null;
    }
    boolean due = last == null || (vain && now - last.started >= patienceNanos / 4);
    return due ? attempt(now) : null;
  }

  private synchronized @Nullable Attempt nextWhileSilent(long now) {
    if (breaker.getState() == CircuitBreaker.State.HALF_OPEN) {
      if (last == null || last.isVain(now)) {
        breaker.onError(0, TimeUnit.NANOSECONDS, new IOException(name));
      }
      return null;
    }
    return probes < MOST_PROBES && breaker.tryAcquirePermission() ? attempt(now) : null;
  }

  private synchronized @Nullable Attempt attempt(long now) {
    if (probes >= MOST_PROBES) {
      return null;
    }
    last = new Attempt(now);
    probes++;
    return last;
  }

  private void send(Attempt attempt) {
    try {
      threads.execute(() -> run(attempt));
    } catch (RejectedExecutionException e) {
      over(attempt, false); // the mount is ending
    } catch (OutOfMemoryError e) {
      over(attempt, false); // no thread can be started
      OutOfMemory.tell(e);
    }
  }

  private void run(Attempt attempt) {
    boolean well = false;
    try {
      probe.ask();
      well = true;
    } catch (FsException e) {
      well = !isNoAnswer(e.code());
    } finally {
      over(attempt, well);
    }
  }

  private synchronized void over(Attempt attempt, boolean well) {
    probes--;
    attempt.failed = !well;
    if (well) {
      answered();
    }
  }

  /** Returns the current health. */
  synchronized OriginHealth health() {
    long waited = unanswered ? seconds(nanoTime.getAsLong() - since) : 0;
    return new OriginHealth(silent, silences, waited);
  }

  /** A clock that nobody sets: pauses must not grow when the time of day jumps. */
  private static final class SteadyClock extends Clock {
    private final LongSupplier nanoTime;

    SteadyClock(LongSupplier nanoTime) {
      this.nanoTime = nanoTime;
    }

    @Override
    public Instant instant() {
      return Instant.EPOCH.plusNanos(nanoTime.getAsLong());
    }

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }
  }
}
