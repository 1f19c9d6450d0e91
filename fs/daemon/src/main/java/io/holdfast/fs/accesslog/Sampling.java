package io.holdfast.fs.accesslog;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which events are logged: one of so many ({@code 1/100}), or so many a second ({@code 500/s}).
 * Immutable.
 *
 * @param oneOf one of so many events is logged
 * @param perSecond the most events that are logged in a second
 */
public record Sampling(long oneOf, long perSecond) {
  /** As many events as a disk is likely to bear. */
  public static final Sampling DEFAULT = new Sampling(1, 1000);

  private static final long SECOND = Duration.ofSeconds(1).toNanos();
  private static final Pattern FORM = Pattern.compile("1/([1-9]\\d{0,8})|([1-9]\\d{0,8})/s");

  /**
   * Parses one of the two forms.
   *
   * @throws IllegalArgumentException if it is neither, with a text for the user
   */
  public static Sampling parse(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      throw new IllegalArgumentException(
          "'" + text + "' is no sampling: write 1/N for one event of N, or N/s for N a second");
    }
    return form.group(1) == null
        ? new Sampling(1, Long.parseLong(form.group(2)))
        : new Sampling(Long.parseLong(form.group(1)), Long.MAX_VALUE);
  }

  @Override
  public String toString() {
    return perSecond == Long.MAX_VALUE ? "1/" + oneOf : perSecond + "/s";
  }

  /** Returns a chooser with this sampling. */
  Chooser chooser(LongSupplier nanoTime) {
    return new Chooser(this, nanoTime);
  }

  /**
   * Chooses events. Thread-safe without a lock; at the turn of a second it may choose some more.
   */
  static final class Chooser {
    private final Sampling sampling;
    private final LongSupplier nanoTime;
    private final AtomicLong events = new AtomicLong();
    private final AtomicLong second;
    private final AtomicLong thisSecond = new AtomicLong();

    private Chooser(Sampling sampling, LongSupplier nanoTime) {
      this.sampling = sampling;
      this.nanoTime = nanoTime;
      this.second = new AtomicLong(nanoTime.getAsLong());
    }

    /** Tells whether the next event is logged. */
    boolean next() {
      if (sampling.oneOf > 1) {
        return events.getAndIncrement() % sampling.oneOf == 0;
      }
      if (sampling.perSecond == Long.MAX_VALUE) {
        return true;
      }
      long now = nanoTime.getAsLong();
      long begun = second.get();
      if (now - begun >= SECOND && second.compareAndSet(begun, now)) {
        thisSecond.set(0);
      }
      return thisSecond.get() < sampling.perSecond
          && thisSecond.incrementAndGet() <= sampling.perSecond;
    }
  }
}
