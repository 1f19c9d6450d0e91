package io.holdfast.fs.figures;

/**
 * Opens by applications. Immutable.
 *
 * @param counted whether they are counted
 * @param overflows the number of times that they came faster than they could be counted
 */
public record OpenFigures(boolean counted, long total, long overflows) {}
