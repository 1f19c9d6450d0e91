package io.holdfast.fs.figures;

/**
 * The order in which a job reads, and what came of knowing it. Immutable.
 *
 * @param source where the order is from: {@code announced}, {@code sampler} or {@code learned}
 * @param length how many files this pass has
 * @param position the place behind the furthest file that the job has opened in this pass
 * @param windowBytes bytes that may be fetched ahead now
 * @param prefetchedItems items that were fetched ahead
 * @param usedItems items that were fetched ahead and opened
 * @param wastedBytes bytes that were fetched ahead and not opened in time
 * @param surprises opens of files that the order did not have near the position
 */
public record OrderFigures(
    String job,
    String source,
    long length,
    long position,
    long windowBytes,
    long prefetchedItems,
    long usedItems,
    long wastedBytes,
    long surprises) {}
