package io.holdfast.fs;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts failures by their cause. Thread-safe. */
public final class ErrorCounts {
  private final Map<FsError, LongAdder> counts = new ConcurrentHashMap<>();

  /**
   * Creates counts in which the causes that monitoring watches are there from the beginning, with
   * 0.
   */
  public ErrorCounts() {
    for (FsError watched :
        List.of(FsError.IO, FsError.TIMED_OUT, FsError.STALE, FsError.NO_MEMORY)) {
      counts.put(watched, new LongAdder());
    }
  }

  /** Counts one failure. */
  public void count(FsError cause) {
    counts.computeIfAbsent(cause, each -> new LongAdder()).increment();
  }

  /** Returns the number of failures by cause; a cause is in lower case. */
  public Map<String, Long> byCause() {
    Map<String, Long> all = new TreeMap<>();
    counts.forEach((cause, count) -> all.put(cause.name().toLowerCase(Locale.ROOT), count.sum()));
    return all;
  }
}
