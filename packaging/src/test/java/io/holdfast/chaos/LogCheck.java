package io.holdfast.chaos;

import io.holdfast.chaos.FaultKind.Place;
import java.time.OffsetDateTime;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Tells which errors in a daemon's log come of what was done. */
final class LogCheck {
  private static final Pattern ERROR = Pattern.compile("(\\S+) +ERROR +(.*)");
  private static final Pattern OF_PEERS =
      Pattern.compile(".*(no peers yet|cannot join again|for a peer|asking \\S+ failed).*");
  private static final Pattern OF_ITS_END =
      Pattern.compile(".*(supervisor may start another daemon|the start failed).*");
  private static final long AFTERMATH_MILLIS = 60_000;

  private final Timeline timeline;

  LogCheck(Timeline timeline) {
    this.timeline = timeline;
  }

  /** Whether a line of a node's log is an error that nothing explains. */
  boolean isUnexplained(int node, String line) {
    Matcher error = ERROR.matcher(line);
    if (!error.matches()) {
      return false;
    }
    Set<Place> places = causes(error.group(2));
    long at = OffsetDateTime.parse(error.group(1)).toInstant().toEpochMilli();
    int whose = places.contains(Place.NETWORK) ? Timeline.ANY_NODE : node;
    return !timeline.wasAny(kind -> places.contains(kind.place()), whose, at, at, AFTERMATH_MILLIS);
  }

  private static Set<Place> causes(String message) {
    if (OF_PEERS.matcher(message).matches()) {
      return Set.of(Place.NETWORK, Place.NODE, Place.ORIGIN);
    }
    return OF_ITS_END.matcher(message).matches() ? Set.of(Place.NODE, Place.ORIGIN) : Set.of();
  }
}
