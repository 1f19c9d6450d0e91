package io.holdfast.peer.transfer;

import io.holdfast.peer.NodeAddress;
import java.time.Duration;
import java.time.Instant;

/**
 * The figures of a peer since the daemon's start. Immutable.
 *
 * @param peer its address
 * @param suspect whether requests to it are suspended
 * @param since when the suspension began, or when the peer was first seen
 * @param residentBytes its resident bytes, as it told last; -1 where it never did
 * @param itemsIn items and parts of items received from it
 * @param bytesIn bytes received from it
 * @param itemsOut items and parts of items sent to it
 * @param bytesOut bytes sent to it
 * @param errors faults: no connection, deadline, reset, short body, wrong checksum, wrong version
 * @param load the current requests to it
 * @param p50 median latency to the last byte; zero where nothing was received
 * @param p99 99th percentile of the latency
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
   * The current requests to a peer.
   *
   * @param limit most requests in flight
   * @param inFlight requests in flight
   * @param queued requests that wait for their turn
   */
  public record Load(int limit, int inFlight, int queued) {}
}
