package io.holdfast.fs.allocate;

import java.util.Optional;

/**
 * A mount of a node, as it was found to be. Immutable.
 *
 * @param capacity bytes that it has
 * @param bounds of its capacity
 * @param measured its rates; empty where nobody can tell them
 * @param originLoad bytes per second that it reads from its origin
 * @param isOriginGuessed whether no job has shown how fast its origin is
 * @param reason why nothing can be told, or which job it is about; for people
 */
public record FoundMount(
    String name,
    State state,
    long capacity,
    Bounds bounds,
    Optional<PlannedMount> measured,
    double originLoad,
    boolean isOriginGuessed,
    String reason) {

  /** Whether its capacity may change. */
  public enum State {
    /** A job reads it whose rates are known. */
    MEASURED,
    /** It has no use for memory now: its jobs have ended, or its policy keeps nothing. */
    IDLE,
    /** Nobody can tell what memory is to it: it keeps what it has. */
    LEFT
  }

  /** Returns a mount that keeps what it has. */
  public static FoundMount left(String name, long capacity, String reason) {
    return new FoundMount(
        name, State.LEFT, capacity, Bounds.NONE, Optional.empty(), 0, false, reason);
  }

  /** Returns a mount that has no use for memory now. */
  public static FoundMount idle(String name, long capacity, Bounds bounds, String reason) {
    return new FoundMount(name, State.IDLE, capacity, bounds, Optional.empty(), 0, false, reason);
  }

  /** Returns a mount whose job's rates are known. */
  static FoundMount measured(PlannedMount mount, Bounds bounds, double originLoad, String reason) {
    return new FoundMount(
        mount.name(),
        State.MEASURED,
        mount.capacity().now(),
        bounds,
        Optional.of(mount),
        originLoad,
        false,
        reason);
  }

  /** Returns the same, with whether no job has shown how fast its origin is. */
  FoundMount withOriginGuessed(boolean isGuessed) {
    return new FoundMount(name, state, capacity, bounds, measured, originLoad, isGuessed, reason);
  }

  boolean is(State wanted) {
    return state == wanted;
  }
}
