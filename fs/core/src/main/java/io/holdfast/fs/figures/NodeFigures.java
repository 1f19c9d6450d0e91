package io.holdfast.fs.figures;

/**
 * A node of the cluster: a row of {@code peers.json}. Immutable.
 *
 * @param difference why this node shares nothing with it; empty if they share
 * @param since when it was seen first; empty for the own node
 * @param residentBytes the bytes of its residents; -1 if it has not told
 * @param p50Us the median time of a question to it, in microseconds
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
