package io.holdfast.fs;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts failures by their cause. Thread-safe. */
public final class ErrorCounts {
  private final Map<FsError, LongAdder> counts = new EnumMap<>(FsError.class);

  /**
   * Creates counts in which every cause is there from the beginning, with 0. Monitoring sees no
   * increase in a cause that begins with its first failures.
   */
  public ErrorCounts() {
    for (FsError each : FsError.values()) {
      counts.put(each, new LongAdder());
    }
  }

  /** Counts one failure. */
  public void count(FsError cause) {
    Objects.requireNonNull(counts.get(cause)).increment();
  }

  /** Returns the number of failures by cause; a cause is in lower case. */
  public Map<String, Long> byCause() {
    Map<String, Long> all = new TreeMap<>();
    counts.forEach((cause, count) -> all.put(cause.name().toLowerCase(Locale.ROOT), count.sum()));
    return all;
  }
}
