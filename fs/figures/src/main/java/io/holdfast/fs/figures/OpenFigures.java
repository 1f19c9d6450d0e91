package io.holdfast.fs.figures;

/**
 * Opens by applications. Immutable.
 *
 * @param counted whether they are counted
 * @param items the items of the files that were opened
 * @param misses the misses of all jobs together
 * @param overflows the number of times that they came faster than they could be counted
 */
public record OpenFigures(boolean counted, long total, long items, long misses, long overflows) {}
