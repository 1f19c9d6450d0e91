package io.holdfast.fs.figures;

/**
 * The residents, and the decisions about them. Immutable.
 *
 * @param keptBytes bytes of residents that users have named
 * @param swappedItems items that were admitted in the place of an evicted one, to spread the
 *     residents over an order, or by the plan of several nodes
 * @param pinBacklogBytes bytes of residents that are cached and not locked yet: their pins come
 *     behind the readers
 * @param plannedHitRatio the share of bytes that each epoch from the second on will hit
 * @param pin hard or soft
 * @param capacityOfNodeBudget whether the capacity is a part of the node's memory for mounts
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
    long swappedItems,
    long pinFailures,
    long pinBacklogBytes,
    double plannedHitRatio,
    String pin,
    boolean capacityOfNodeBudget) {}
