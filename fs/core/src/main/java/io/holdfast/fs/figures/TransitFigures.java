package io.holdfast.fs.figures;

/**
 * Bytes on their way. Immutable.
 *
 * @param reclaimableBytes what of those in use is given up as soon as others need it
 * @param windowBytes pages of what was not admitted and is not dropped yet
 */
public record TransitFigures(
    long capacityBytes,
    long usedBytes,
    long reclaimableBytes,
    long windowBytes,
    long droppedBytes) {}
