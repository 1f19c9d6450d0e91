package io.holdfast.fs.transit;

import com.netflix.concurrency.limits.Limit;
import com.netflix.concurrency.limits.limit.AIMDLimit;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * How many requests an origin gets at once: more as long as that costs no time, less when it fails
 * or takes longer. Thread-safe.
 *
 * <p>The rule is additive increase, multiplicative decrease (Chiu and Jain, "Analysis of the
 * increase and decrease algorithms for congestion avoidance in computer networks", 1989), of the
 * library. What is ours:
 *
 * <ul>
 *   <li><b>Times are compared with what requests of about that size take without load</b>, since a
 *       request for 8 MiB takes longer than one for 8 KiB. For each power of two that is the least
 *       median of 31 times, which rises by a little with each request, so that an old measurement
 *       does not count for ever.
 *   <li><b>One decision a round.</b> A round is as many answers as the limit. The median decides,
 *       so that a few stragglers, which object stores always have, do not count. Twice the time
 *       without load is too long.
 *   <li><b>Errors count at once</b>, but once a round: those that follow were sent before.
 *   <li><b>An origin that became slower for good</b> is noticed at the least limit: where times are
 *       too long even there, they are what requests take without load now.
 * </ul>
 */
final class AdaptiveLimit {
  static final int LEAST = 4;
  static final int FIRST = 16;
  static final int MOST = 128;

  private static final double BACK_OFF = 0.7;
  private static final int TOO_LONG = 2;
  private static final double RISE = 3e-5;

  /** Answers of one size class whose median is taken, and after how many it is taken again. */
  private static final int RECENT = 31;

  private static final int EACH = 5;

  private static final int SHORTEST_ROUND = 8;

  /**
   * The classes: up to 64 KiB, to 128 KiB, and so on; the last one is what is larger than 16 MiB.
   */
  private static final int CLASSES = 10;

  private static final int SMALLEST = 64 << 10;

  /** What the library takes for a time: slow-downs in millionths. */
  private static final long UNIT = 1_000_000;

  private final Limit limit =
      AIMDLimit.newBuilder()
          .minLimit(LEAST)
          .initialLimit(FIRST)
          .maxLimit(MOST)
          .backoffRatio(BACK_OFF)
          .timeout(TOO_LONG * UNIT, TimeUnit.NANOSECONDS)
          .build();

  // the monitor guards what follows

  private final SizeClass[] classes = new SizeClass[CLASSES];
  private final double[] round = new double[MOST];
  private int answers;
  private int mostInFlight;
  private int sinceError = MOST;

  AdaptiveLimit() {
    Arrays.setAll(classes, any -> new SizeClass());
  }

  /** Times of requests of about one size. */
  private static final class SizeClass {
    private final double[] recent = new double[RECENT];
    private long seen;
    private double unloaded;

    /** Returns how many times longer a request took than without load; 0 where that is unknown. */
    double slowDown(double nanos) {
      recent[(int) (seen % RECENT)] = nanos;
      seen++;
      if (seen % EACH == 0) {
        double median = median(recent, (int) Math.min(seen, RECENT));
        unloaded = seen <= RECENT ? median : Math.min(median, unloaded * (1 + EACH * RISE));
      }
      return unloaded == 0 ? 0 : nanos / unloaded;
    }

    void forget() {
      seen = 0;
      unloaded = 0;
    }
  }

  /** Returns how many requests may be under way at once. */
  int get() {
    return limit.getLimit();
  }

  /**
   * Learns that a request was answered.
   *
   * @param bytes how many came
   * @param nanos how long that took
   * @param inFlight how many requests were under way, this one counted
   */
  synchronized void arrived(int bytes, long nanos, int inFlight) {
    sinceError++;
    mostInFlight = Math.max(mostInFlight, inFlight);
    double slowDown = classes[sizeClass(bytes)].slowDown((double) nanos);
    if (slowDown > 0) {
      round[answers] = slowDown;
      answers++;
    }
    if (answers >= Math.min(MOST, Math.max(SHORTEST_ROUND, get()))) {
      double median = median(round, answers);
      decide(median, false);
      if (median > TOO_LONG && get() == LEAST) {
        Arrays.stream(classes).forEach(SizeClass::forget);
      }
    }
  }

  /** Learns that a request failed, or was given up. */
  synchronized void failed(int inFlight) {
    if (sinceError >= get()) {
      mostInFlight = Math.max(mostInFlight, inFlight);
      decide(0, true);
      sinceError = 0;
    }
  }

  private void decide(double slowDown, boolean error) {
    limit.onSample(0, (long) (slowDown * UNIT), mostInFlight, error);
    answers = 0;
    mostInFlight = 0;
  }

  private static int sizeClass(int bytes) {
    int units = (bytes - 1) / SMALLEST;
    return Math.min(CLASSES - 1, Integer.SIZE - Integer.numberOfLeadingZeros(units));
  }

  private static double median(double[] values, int count) {
    double[] sorted = Arrays.copyOf(values, count);
    Arrays.sort(sorted);
    return sorted[count / 2];
  }
}
