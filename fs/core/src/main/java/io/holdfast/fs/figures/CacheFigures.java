package io.holdfast.fs.figures;

/**
 * What is resident, and how it came to be. Immutable.
 *
 * @param keptBytes what those residents take that are to stay because of their names
 * @param plannedHitRatio what each epoch from the second on will hit, by bytes
 * @param pin hard or soft
 */
public record CacheFigures(
    String policy,
    long capacityBytes,
    long residentBytes,
    long residentItems,
    long keptBytes,
    long keptItems,
    long admittedItems,
    long refusedItems,
    long evictedItems,
    long pinFailures,
    double plannedHitRatio,
    String pin) {}
