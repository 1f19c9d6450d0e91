package io.holdfast.fs.daemon;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.figures.AllocationFigures;
import java.time.Clock;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What {@code holdfast allocate} told this mount. Only that command knows all mounts of the node,
 * so it computes these figures; the daemon keeps them for whoever looks at the mount, and decides
 * nothing by them. Thread-safe.
 */
final class ToldAllocation {
  private final Clock clock;
  private @Nullable AllocationFigures told;

  ToldAllocation(Clock clock) {
    this.clock = clock;
  }

  /** Returns the figures; empty where nothing was told to this daemon. */
  synchronized Optional<AllocationFigures> figures() {
    return Optional.ofNullable(told);
  }

  /**
   * Takes what is told.
   *
   * @param request has {@code budget_bytes}, {@code proposed_bytes}, {@code changed}, whether the
   *     capacity was just set, and maybe {@code fair_share_bytes}
   * @throws FsException where one of them is missing or wrong
   */
  synchronized AllocationFigures take(Map<String, Object> request) throws FsException {
    OptionalLong budget = bytes(request, "budget_bytes");
    OptionalLong proposed = bytes(request, "proposed_bytes");
    OptionalLong fair = bytes(request, "fair_share_bytes");
    if (budget.isEmpty() || proposed.isEmpty()) {
      throw new FsException(FsError.UNSUPPORTED, "budget_bytes and proposed_bytes are needed");
    }
    long now = clock.instant().getEpochSecond();
    boolean changed = Boolean.TRUE.equals(request.get("changed"));
    long changes = told == null ? 0 : told.changes();
    OptionalLong before = told == null ? OptionalLong.empty() : told.changedSeconds();
    told =
        new AllocationFigures(
            budget.getAsLong(),
            fair,
            proposed.getAsLong(),
            changed ? changes + 1 : changes,
            now,
            changed ? OptionalLong.of(now) : before);
    return told;
  }

  private static OptionalLong bytes(Map<String, Object> request, String key) throws FsException {
    Object value = request.get(key);
    if (value == null) {
      return OptionalLong.empty();
    }
    if (value instanceof Number number && number.longValue() >= 0) {
      return OptionalLong.of(number.longValue());
    }
    throw new FsException(FsError.UNSUPPORTED, key + " must be a number of bytes");
  }
}
