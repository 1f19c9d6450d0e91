package io.holdfast.fs.figures;

/**
 * A node of the cluster: a row of {@code peers.json}. Immutable.
 *
 * @param difference why this node shares nothing with it; empty if they share
 * @param since when it was seen first; empty for the own node
 * @param residentBytes the bytes of its residents; -1 if it has not told
 * @param p50Us the median time of a question to it, in microseconds
 */
public record NodeFigures(
    String node,
    String dataset,
    String state,
    String difference,
    String since,
    long capacityBytes,
    long residentBytes,
    double share,
    long itemsIn,
    long bytesIn,
    long itemsOut,
    long bytesOut,
    long errors,
    long p50Us,
    long p99Us) {
  private static final String TOLD_TO_OWNERS = "root and the user who mounted are told why";

  /**
   * Returns the row as users other than the owner see it: without the difference, because that
   * names a file and a source.
   */
  public NodeFigures forOthers() {
    return new NodeFigures(
        node,
        dataset,
        state,
        difference.isEmpty() ? "" : TOLD_TO_OWNERS,
        since,
        capacityBytes,
        residentBytes,
        share,
        itemsIn,
        bytesIn,
        itemsOut,
        bytesOut,
        errors,
        p50Us,
        p99Us);
  }
}
