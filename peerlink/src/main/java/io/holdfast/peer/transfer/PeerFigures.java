package io.holdfast.peer.transfer;

import io.holdfast.peer.NodeAddress;
import java.time.Duration;
import java.time.Instant;

/**
 * What this node knows of a peer from dealing with it, since the daemon's start. Immutable.
 *
 * @param peer which
 * @param suspect whether it is being left alone
 * @param since when that began, or when it was first heard of
 * @param residentBytes as it told last; -1 where it never did
 * @param itemsIn items and parts of items that came from it
 * @param bytesIn bytes of those
 * @param itemsOut items and parts of items that went to it
 * @param bytesOut bytes of those
 * @param errors faults: no connection, deadline, reset, short body, wrong checksum, wrong version
 * @param load what is being asked of it at this moment
 * @param p50 median time from asking to the last byte; zero where nothing came
 * @param p99 99th percentile of that
 */
public record PeerFigures(
    NodeAddress peer,
    boolean suspect,
    Instant since,
    long residentBytes,
    long itemsIn,
    long bytesIn,
    long itemsOut,
    long bytesOut,
    long errors,
    Load load,
    Duration p50,
    Duration p99) {
  /**
   * What is being asked of it.
   *
   * @param limit how many requests may be under way at once
   * @param inFlight how many are
   * @param queued how many wait for their turn
   */
  public record Load(int limit, int inFlight, int queued) {}
}
