package io.holdfast.peer.transfer;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts rejected requests and connections by reason, and logs each reason at most once a minute.
 * Thread-safe.
 *
 * <p>The reasons are few and fixed; no input of a stranger becomes a reason.
 */
final class RejectedRequests {
  static final String FOREIGN_CLUSTER = "foreign_cluster";
  static final String REPLAYED = "replayed";
  static final String UNAUTHENTICATED = "unauthenticated";
  static final String UNKNOWN_DATASET = "unknown_dataset";
  static final String ITEM_SIZE = "item_size";
  static final String BAD_PATH = "bad_path";
  static final String MALFORMED = "malformed";
  static final String TOO_MANY = "too_many";
  static final String BUSY = "busy";
  static final String TIMEOUT = "timeout";
  static final String SLOW_RECEIVER = "slow_receiver";
  static final String TLS = "tls";

  private static final Logger LOG = LoggerFactory.getLogger(RejectedRequests.class);
  private static final long QUIET = TimeUnit.MINUTES.toNanos(1);
  private static final int LONGEST_DETAIL = 200;

  private final Map<String, Reason> reasons = new ConcurrentHashMap<>();
  private final LongSupplier nanos;

  private static final class Reason {
    final LongAdder count = new LongAdder();
    final AtomicLong quietUntil;

    Reason(long now) {
      quietUntil = new AtomicLong(now);
    }
  }

  RejectedRequests(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /**
   * Counts a rejection.
   *
   * @param who the other side
   * @param detail what was wrong
   */
  void count(String reason, Object who, String detail) {
    long now = nanos.getAsLong();
    Reason each = reasons.computeIfAbsent(reason, any -> new Reason(now));
    each.count.increment();
    long quietUntil = each.quietUntil.get();
    if (now - quietUntil >= 0 && each.quietUntil.compareAndSet(quietUntil, now + QUIET)) {
      LOG.warn(
          "refused {}: {} ({}; {} times since the start)",
          who,
          printable(detail),
          reason,
          each.count.sum());
    }
  }

  /** Makes a stranger's text fit for a log: one short line of plain characters. */
  static String printable(String text) {
    String cut = text.length() > LONGEST_DETAIL ? text.substring(0, LONGEST_DETAIL) + "..." : text;
    return cut.replaceAll("[^\\x20-\\x7e]", "?");
  }

  Map<String, Long> counts() {
    Map<String, Long> counts = new TreeMap<>();
    reasons.forEach((name, reason) -> counts.put(name, reason.count.sum()));
    return counts;
  }
}
