package io.holdfast.fs.memory;

import io.holdfast.fs.memory.CapacityRules.Phase;
import io.holdfast.fs.memory.CapacityRules.State;
import io.holdfast.fs.units.Human;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs the changes of the memory guard: each change once, and the same change no more than once a
 * minute. Not thread-safe.
 */
final class GuardWords {
  private static final Logger log = LoggerFactory.getLogger(MemoryGuard.class);

  /** The ceiling may take a little from residents again and again, while names are added. */
  private static final long QUIET_NANOS = Duration.ofMinutes(1).toNanos();

  private boolean saidFloor;
  private boolean saidShrinking;
  private String lastCause = "";
  private long lastSaid;
  private long before;

  /** The figures that the decision follows from. */
  record Seen(Bounds bounds, OwnUse use, List<Room> rooms) {
    String left(String place) {
      return rooms.stream()
          .filter(room -> room.place().equals(place))
          .map(
              room ->
                  "%s has %s of %s left, and %s are to stay free"
                      .formatted(
                          place,
                          Human.bytes(room.available()),
                          Human.bytes(room.total()),
                          Human.bytes(room.reserve())))
          .findFirst()
          .orElseGet(
              () ->
                  "everything else takes %s of --memory %s"
                      .formatted(Human.bytes(use.besides()), Human.bytes(bounds.memory())));
    }

    /** Tells whether a room lacks memory that residents must not give up. */
    boolean isWanting() {
      return rooms.stream().anyMatch(room -> room.missing(1) > 0);
    }
  }

  void say(State was, State is, Seen seen) {
    if (saidShrinking && is.phase() != Phase.SHRINKING) {
      saidShrinking = false;
      log.info(
          "residents have made way: {} now, {} before",
          Human.bytes(seen.use.residents()),
          Human.bytes(before));
    }
    if (is.phase() == Phase.LIMITED && seen.isWanting() && !saidFloor) {
      saidFloor = true;
      log.warn(
          "{}; no residents make way for it, since --memory-min is {}",
          seen.left(is.cause()),
          Human.bytes(seen.bounds.least()));
    }
    if (was.phase() != is.phase()) {
      changed(was, is, seen);
    }
  }

  private void changed(State was, State is, Seen seen) {
    switch (is.phase()) {
      case SHRINKING -> shrinking(is, seen);
      case LIMITED -> {
        if (was.phase() == Phase.OK) {
          log.info(
              "residents may take {} of {} for now: {}",
              Human.bytes(is.capacity()),
              Human.bytes(seen.bounds.capacity()),
              seen.left(is.cause()));
        }
      }
      case GROWING ->
          log.info("residents may grow again: there has been enough memory for a while");
      case OK -> {
        saidFloor = false;
        log.info("residents may take {} again", Human.bytes(is.capacity()));
      }
    }
  }

  private void shrinking(State is, Seen seen) {
    if (is.cause().equals(lastCause) && is.since() - lastSaid < QUIET_NANOS) {
      return;
    }
    saidShrinking = true;
    lastCause = is.cause();
    lastSaid = is.since();
    before = seen.use.residents();
    log.warn("residents make way for others: {}", seen.left(is.cause()));
  }
}
