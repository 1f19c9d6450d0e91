package io.holdfast.fs.watch;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Locale;

/**
 * The choices of a user of {@code holdfast top}. Immutable; a key gives another state.
 *
 * @param table the table below the tiers
 * @param sort the figure that sorts jobs and processes, largest first
 * @param paused whether the screen does not change
 * @param help whether the screen explains the keys instead of the table
 * @param intervalMillis time from one look to the next
 */
public record TopState(Table table, Sort sort, boolean paused, boolean help, long intervalMillis) {
  private static final long[] INTERVALS = {250, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000};

  /** A table below the tiers. */
  public enum Table {
    JOBS,
    PROCESSES,
    PEERS,
    ORDERS,
    CONVOYS;

    private Table next() {
      return switch (this) {
        case JOBS -> PROCESSES;
        case PROCESSES -> PEERS;
        case PEERS -> ORDERS;
        case ORDERS -> CONVOYS;
        case CONVOYS -> JOBS;
      };
    }
  }

  /** The figure that sorts jobs and processes. */
  public enum Sort {
    STALLED,
    OPENS,
    MISSES,
    BYTES;

    String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    private double of(ReadCounts counts) {
      return switch (this) {
        case STALLED -> counts.stallSeconds();
        case OPENS -> counts.opens();
        case MISSES -> counts.misses();
        case BYTES -> counts.fetchedBytes();
      };
    }

    /**
     * Returns the order of rows: by the figure of the last time, then by the figure since the
     * mount, then by name.
     */
    Comparator<Usage> order() {
      return Comparator.comparingDouble((Usage usage) -> of(usage.recent()))
          .thenComparingDouble(usage -> of(usage.total()))
          .reversed()
          .thenComparing(Usage::name)
          .thenComparingLong(Usage::pid);
    }
  }

  /** Returns the first state. */
  public static TopState first(long intervalMillis) {
    return new TopState(Table.JOBS, Sort.STALLED, false, false, intervalMillis);
  }

  /** Returns the state after a key; a key without a meaning changes nothing. */
  public TopState after(int key) {
    if (help) {
      return new TopState(table, sort, paused, false, intervalMillis);
    }
    return switch (key) {
      case 's' -> sorted(Sort.STALLED);
      case 'o' -> sorted(Sort.OPENS);
      case 'm' -> sorted(Sort.MISSES);
      case 'b' -> sorted(Sort.BYTES);
      case 'p' -> with(table.next());
      case ' ' -> new TopState(table, sort, !paused, false, intervalMillis);
      case '+', '=' -> every(longer());
      case '-' -> every(shorter());
      case 'h', '?' -> new TopState(table, sort, paused, true, intervalMillis);
      default -> this;
    };
  }

  /** Returns the same with another table. */
  public TopState with(Table other) {
    return new TopState(other, sort, paused, help, intervalMillis);
  }

  private TopState sorted(Sort other) {
    return new TopState(table, other, paused, help, intervalMillis);
  }

  private TopState every(long millis) {
    return new TopState(table, sort, paused, help, millis);
  }

  private long longer() {
    return Arrays.stream(INTERVALS)
        .filter(each -> each > intervalMillis)
        .findFirst()
        .orElse(intervalMillis);
  }

  private long shorter() {
    return Arrays.stream(INTERVALS)
        .filter(each -> each < intervalMillis)
        .reduce((first, second) -> second)
        .orElse(intervalMillis);
  }
}
