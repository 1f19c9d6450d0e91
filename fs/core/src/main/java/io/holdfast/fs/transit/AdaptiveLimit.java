package io.holdfast.fs.transit;

import com.netflix.concurrency.limits.Limit;
import com.netflix.concurrency.limits.limit.AIMDLimit;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * The number of requests that an origin gets at once. It grows as long as that does not cost time,
 * and shrinks when requests fail or take longer. Thread-safe.
 *
 * <p>The rule is additive increase, multiplicative decrease (Chiu and Jain, "Analysis of the
 * increase and decrease algorithms for congestion avoidance in computer networks", 1989), from the
 * library. Additions:
 *
 * <ul>
 *   <li><b>Latency is compared with that of requests of similar size without load</b>, since a
 *       request for 8 MiB takes longer than one for 8 KiB. For each power of two, the unloaded
 *       latency is the least median of 31 requests. It rises a little with each request, so that an
 *       old measurement does not count for ever.
 *   <li><b>One decision a round.</b> A round has as many answers as the limit. The median decides,
 *       so that a few stragglers, which object stores always have, do not count. Twice the unloaded
 *       latency is too long.
 *   <li><b>It begins with doubling</b>, as slow start in TCP (Jacobson, "Congestion avoidance and
 *       control", 1988): a round that uses all of the limit and takes no longer doubles it. With
 *       one more a round, readers would wait for seconds until an origin of long latency gets what
 *       it can take. The first error, or the first round that takes a quarter longer, ends that.
 *   <li><b>Errors count at once</b>, but once a round: later errors belong to requests that were
 *       sent before the decision.
 *   <li><b>An origin that became slower for good</b> is detected at the least limit: if latency is
 *       too long even there, it becomes the unloaded latency.
 * </ul>
 */
final class AdaptiveLimit {
  static final int LEAST = 4;
  static final int FIRST = 16;
  static final int MOST = 128;

  private static final double BACK_OFF = 0.7;
  private static final int TOO_LONG = 2;
  private static final double RISE = 3e-5;

  /** A round that takes this many times longer than without load is the last one that doubles. */
  private static final double LONGER = 1.25;

  /** Answers of a size class in its median. */
  private static final int RECENT = 31;

  private static final int EACH = 5;

  private static final int SHORTEST_ROUND = 8;

  /**
   * The size classes: up to 64 KiB, up to 128 KiB, and so on; the last class has no upper bound.
   */
  private static final int CLASSES = 10;

  private static final int SMALLEST = 64 << 10;

  /** A slow-down of 1 in the unit that the library takes for nanoseconds. */
  private static final long UNIT = 1_000_000;

  /** Replaced, under the monitor, each time it doubles. */
  private volatile Limit limit = additive(FIRST);

  // the monitor guards the following fields

  /** Whether no round has cost time yet, no error has come, and the most is not reached. */
  private boolean doubles = true;

  private final SizeClass[] classes = new SizeClass[CLASSES];
  private final double[] round = new double[MOST];
  private int answers;
  private int mostInFlight;
  private int sinceError = MOST;

  AdaptiveLimit() {
    Arrays.setAll(classes, any -> new SizeClass());
  }

  private static Limit additive(int first) {
    return AIMDLimit.newBuilder()
        .minLimit(LEAST)
        .initialLimit(first)
        .maxLimit(MOST)
        .backoffRatio(BACK_OFF)
        .timeout(TOO_LONG * UNIT, TimeUnit.NANOSECONDS)
        .build();
  }

  /** The latency of requests of similar size. */
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

  /** Returns how many requests may be in flight at once. */
  int get() {
    return limit.getLimit();
  }

  /**
   * Records an answer.
   *
   * @param bytes bytes of the answer
   * @param nanos latency of the request
   * @param inFlight requests that were in flight, including this one
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
      int count = answers;
      answers = 0; // first: where the heap is full, this round is lost, and the next one has room
      double median = median(round, count);
      decide(median, false);
      if (median > TOO_LONG && get() == LEAST) {
        Arrays.stream(classes).forEach(SizeClass::forget);
      }
    }
  }

  /** Records a request that failed or was given up. */
  synchronized void failed(int inFlight) {
    if (sinceError >= get()) {
      mostInFlight = Math.max(mostInFlight, inFlight);
      decide(0, true);
      sinceError = 0;
    }
  }

  private void decide(double slowDown, boolean error) {
    int inFlight = mostInFlight;
    answers = 0;
    mostInFlight = 0;
    doubles &= !error && slowDown < LONGER && get() < MOST;
    if (doubles && inFlight >= get()) {
      limit = additive(Math.min(MOST, 2 * get()));
    } else {
      limit.onSample(0, (long) (slowDown * UNIT), inFlight, error);
    }
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
