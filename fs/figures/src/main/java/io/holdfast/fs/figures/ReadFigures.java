package io.holdfast.fs.figures;

/**
 * Reads that reached the daemon. Immutable.
 *
 * @param stallSeconds how long readers were blocked, all added up
 * @param peerStallSeconds the part of it for reads that a peer answered; the rest is for the origin
 */
public record ReadFigures(
    long requests, long bytes, long errors, double stallSeconds, double peerStallSeconds) {}
