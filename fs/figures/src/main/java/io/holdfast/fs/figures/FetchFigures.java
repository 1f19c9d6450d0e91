package io.holdfast.fs.figures;

import java.util.Map;

/**
 * The fetches, by their source. Immutable.
 *
 * @param coalesced reads that joined the fetch of another reader
 * @param inFlight fetches under way
 */
public record FetchFigures(Origin origin, Peers peer, long coalesced, long inFlight) {

  /**
   * The fetches from the origin. Immutable.
   *
   * @param limit the most fetches at once; 0 if readers fetch themselves
   * @param stuck the number of fetches that were given up and have not come back
   * @param silent whether the origin has not answered for so long that it is not asked now
   * @param p50Us the median time of a fetch, in microseconds
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
   * How long fetches took, for monitoring, which computes quantiles of any period from it.
   * Immutable.
   *
   * @param seconds all added up
   * @param upTo the number of fetches that took no longer than each bound, in seconds
   */
  public record Durations(long count, double seconds, Map<String, Long> upTo) {}

  /** The fetches from peers. Immutable. */
  public record Peers(long items, long bytes, long errors, Map<String, Node> byNode) {}

  /** The fetches from one peer, those under way included. Immutable. */
  public record Node(long items, long bytes, long errors, long limit, long inFlight, long queued) {}
}
