package io.holdfast.fs.figures;

/**
 * Reads that reached the daemon. Immutable.
 *
 * @param stallSeconds how long readers were blocked, all added up
 */
public record ReadFigures(long requests, long bytes, long errors, double stallSeconds) {}
