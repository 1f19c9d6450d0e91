package io.holdfast.fs.figures;

/**
 * The bytes in transit and in the window. Immutable.
 *
 * @param reclaimableBytes the bytes in use that transit gives up as soon as others need them
 * @param windowBytes pages of items that were not admitted and are not dropped yet
 */
public record TransitFigures(
    long capacityBytes,
    long usedBytes,
    long reclaimableBytes,
    long windowBytes,
    long droppedBytes) {}
