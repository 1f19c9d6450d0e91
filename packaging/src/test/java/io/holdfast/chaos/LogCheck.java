package io.holdfast.chaos;

import io.holdfast.chaos.FaultKind.Place;
import java.time.OffsetDateTime;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;

/** Decides which errors in a daemon's log the faults explain. */
final class LogCheck {
  private static final Pattern ERROR = Pattern.compile("(\\S+) +ERROR +(.*)");
  private static final Pattern OF_PEERS =
      Pattern.compile(".*(no peers yet|cannot join again|for a peer|asking \\S+ failed).*");
  private static final Pattern OF_ITS_END =
      Pattern.compile(".*(supervisor may start another daemon|the start failed).*");
  private static final long AFTERMATH_MILLIS = 60_000;

  private final Timeline timeline;
  private final Clocks clocks;

  /** Tells when a line may have been written that has this time: clocks may have been wrong. */
  @FunctionalInterface
  interface Clocks {
    /** Returns all that it may be, as a time stamp of a node, in milliseconds since 1970. */
    LongStream whenStamped(int node, long stamp);
  }

  LogCheck(Timeline timeline, Clocks clocks) {
    this.timeline = timeline;
    this.clocks = clocks;
  }

  /** Whether a line of a node's log is an error that nothing explains. */
  boolean isUnexplained(int node, String line) {
    Matcher error = ERROR.matcher(line);
    if (!error.matches()) {
      return false;
    }
    Set<Place> places = causes(error.group(2));
    long stamp = OffsetDateTime.parse(error.group(1)).toInstant().toEpochMilli();
    int whose = places.contains(Place.NETWORK) ? Timeline.ANY_NODE : node;
    return clocks
        .whenStamped(node, stamp)
        .noneMatch(
            at ->
                timeline.wasAny(
                    kind -> places.contains(kind.place()), whose, at, at, AFTERMATH_MILLIS));
  }

  private static Set<Place> causes(String message) {
    if (OF_PEERS.matcher(message).matches()) {
      return Set.of(Place.NETWORK, Place.NODE, Place.ORIGIN);
    }
    return OF_ITS_END.matcher(message).matches() ? Set.of(Place.NODE, Place.ORIGIN) : Set.of();
  }
}
