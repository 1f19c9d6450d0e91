package io.holdfast.fs.figures;

/**
 * A node of the cluster: a row of {@code peers.json}. Immutable.
 *
 * @param difference why nothing is shared with it; empty where something is
 * @param since when it was seen first; empty of the own node
 * @param residentBytes what it keeps; -1 where it has not told
 * @param p50Us the median of what asking it took, in microseconds
 */
public record NodeFigures(
    String node,
    String dataset,
    String state,
    String difference,
    String since,
    long capacityBytes,
    long residentBytes,
    double share,
    long itemsIn,
    long bytesIn,
    long itemsOut,
    long bytesOut,
    long errors,
    long p50Us,
    long p99Us) {}
