package io.holdfast.fs.figures;

/**
 * A process that opened or read files. Immutable.
 *
 * @param pid its number; -1 in the row that sums up all others
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
    double stallSeconds) {
  /** Tells whether the row sums up the processes that have no row of their own. */
  public boolean isSum() {
    return pid < 0;
  }
}
