package io.holdfast.fs.stats;

/**
 * Cumulative figures of a process at one moment. Immutable.
 *
 * @param opens files opened
 * @param items items of the files that were opened
 * @param misses items that were fetched for the process, or that it had to wait for
 * @param fetchedBytes bytes that were fetched for it
 * @param stallNanos how long its threads were blocked, all added up
 */
public record ProcessCounts(
    long opens, long items, long misses, long fetchedBytes, long stallNanos) {
  static final ProcessCounts NOTHING = new ProcessCounts(0, 0, 0, 0, 0);

  ProcessCounts plus(ProcessCounts other) {
    return new ProcessCounts(
        opens + other.opens,
        items + other.items,
        misses + other.misses,
        fetchedBytes + other.fetchedBytes,
        stallNanos + other.stallNanos);
  }

  /**
   * Tells whether there is anything to show. A process that was only looked up, such as the daemon,
   * is not shown.
   */
  boolean hasSome() {
    return opens + misses + stallNanos > 0;
  }
}
