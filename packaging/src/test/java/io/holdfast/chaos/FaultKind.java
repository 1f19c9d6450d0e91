package io.holdfast.chaos;

import static io.holdfast.chaos.Symptom.BUS_ERROR;
import static io.holdfast.chaos.Symptom.IO_ERROR;
import static io.holdfast.chaos.Symptom.NOT_CONNECTED;
import static io.holdfast.chaos.Symptom.NOT_FOUND;
import static io.holdfast.chaos.Symptom.STALE;

import java.util.Locale;
import java.util.Set;

/**
 * The kinds of faults: the place, the frequency beside the others, the duration, and the symptoms
 * that a reader may see. Holdfast must hide all other symptoms.
 */
enum FaultKind {
  DAEMON_KILLED(Place.NODE, 5, 1000, 3000),
  DAEMON_STOPPED(Place.NODE, 3, 500, 6000),
  DAEMON_RESTARTED(Place.NODE, 2, 1000, 3000),
  NODE_KILLED(
      Place.NODE, 2, 1000, 4000, IO_ERROR, NOT_CONNECTED, NOT_FOUND, BUS_ERROR, Symptom.OTHER),
  ORIGIN_ERRORS(Place.ORIGIN, 2, 1000, 5000, IO_ERROR, BUS_ERROR),
  ORIGIN_STALLED(Place.ORIGIN, 2, 1000, 7000),
  ORIGIN_SLOW(Place.ORIGIN, 2, 2000, 7000),
  ORIGIN_SHORT(Place.ORIGIN, 2, 1000, 5000, IO_ERROR, BUS_ERROR),
  CONTENT_CHANGED(Place.CONTENT, 5, 500, 3000, STALE, BUS_ERROR),
  PEER_CUT(Place.NETWORK, 2, 2000, 8000),
  PEER_DEAF(Place.NETWORK, 1, 2000, 8000),
  PEER_MUTE(Place.NETWORK, 1, 2000, 8000),
  PEER_LOSES_PACKETS(Place.NETWORK, 1, 2000, 8000),
  PEER_RESETS(Place.NETWORK, 1, 2000, 8000),
  STATE_DIRECTORY_FULL(Place.STATE, 1, 1000, 6000),
  STATE_DIRECTORY_FAILS(Place.STATE, 2, 1000, 6000),
  CLOCK_JUMPED(Place.CLOCK, 2, 1000, 8000),
  MEMORY_TAKEN(Place.MACHINE, 1, 1000, 5000),
  CACHES_DROPPED(Place.MACHINE, 2, 100, 200),
  READER_KILLED(Place.READER, 3, 100, 1000);

  /** The places of faults; each has one fault at a time. */
  enum Place {
    NODE,
    ORIGIN,
    CONTENT,
    NETWORK,
    STATE,
    CLOCK,
    MACHINE,
    READER
  }

  private final Place place;
  private final int weight;
  private final int shortestMillis;
  private final int longestMillis;

  @SuppressWarnings("ImmutableEnumChecker") // a copy that cannot be changed
  private final Set<Symptom> symptoms;

  FaultKind(Place place, int weight, int shortestMillis, int longestMillis, Symptom... symptoms) {
    this.place = place;
    this.weight = weight;
    this.shortestMillis = shortestMillis;
    this.longestMillis = longestMillis;
    this.symptoms = Set.of(symptoms);
  }

  Place place() {
    return place;
  }

  int weight() {
    return weight;
  }

  int shortestMillis() {
    return shortestMillis;
  }

  int longestMillis() {
    return longestMillis;
  }

  /** Whether a reader may see this of it. */
  boolean mayShowAs(Symptom symptom) {
    return symptoms.contains(symptom);
  }

  /** Whether the daemon cannot answer while it lasts. */
  boolean silencesDaemon() {
    return place == Place.NODE;
  }

  /** Whether a reader may have to wait until it is over. */
  boolean freezes() {
    return place == Place.NODE || this == ORIGIN_STALLED || this == ORIGIN_SLOW;
  }

  /** Whether it concerns one node only: the one that it is done to. */
  boolean isOfOneNode() {
    return place == Place.NODE || place == Place.CLOCK;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
