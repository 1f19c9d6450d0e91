package io.holdfast.fs.figures;

/**
 * A process that opened or read files. Immutable.
 *
 * @param ended whether the process has ended
 * @param items the items of the files that were opened
 */
public record ProcessFigures(
    long pid,
    String job,
    String command,
    boolean ended,
    long opens,
    long items,
    long misses,
    long fetchedBytes,
    double stallSeconds) {}
