package io.holdfast.fs.figures;

import java.util.Map;

/**
 * What was brought, and from where. Immutable.
 *
 * @param coalesced reads that joined the fetch of another reader
 * @param inFlight fetches under way
 */
public record FetchFigures(Origin origin, Peers peer, long coalesced, long inFlight) {

  /**
   * What came from the origin. Immutable.
   *
   * @param limit how many it is asked for at once; 0 where readers fetch themselves
   * @param stuck how many were given up and have not come back
   * @param silent whether it has not answered for so long that it is not asked now
   * @param p50Us the median of what a fetch took, in microseconds
   */
  public record Origin(
      long items,
      long bytes,
      long errors,
      long retries,
      long limit,
      long inFlight,
      long queued,
      long stuck,
      boolean silent,
      long silences,
      long unansweredSeconds,
      long p50Us,
      long p99Us,
      Durations durations) {}

  /**
   * How long fetches took: what monitoring computes quantiles of a time from. Immutable.
   *
   * @param seconds all added up
   * @param upTo how many took no longer than each bound, in seconds
   */
  public record Durations(long count, double seconds, Map<String, Long> upTo) {}

  /** What came from peers. Immutable. */
  public record Peers(long items, long bytes, long errors, Map<String, Node> byNode) {}

  /** What came from one peer, and is being asked of it. Immutable. */
  public record Node(long items, long bytes, long errors, long limit, long inFlight, long queued) {}
}
