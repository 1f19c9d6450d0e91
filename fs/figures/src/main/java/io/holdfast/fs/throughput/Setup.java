package io.holdfast.fs.throughput;

/**
 * What a job runs with. Immutable.
 *
 * @param capacityShare share of the dataset that is in the memory of each node, from 0 to 1
 * @param nodes nodes that share the dataset's memory
 * @param originFactor how many times as fast as now the origin is
 * @param readers processes that read
 * @param acceleratorFactor how many times as fast as now the accelerator is
 * @param moreProcessors processors that it has more than now
 */
public record Setup(
    double capacityShare,
    int nodes,
    double originFactor,
    int readers,
    double acceleratorFactor,
    int moreProcessors) {

  /** Returns the same with another value. */
  public Setup withCapacityShare(double other) {
    return new Setup(other, nodes, originFactor, readers, acceleratorFactor, moreProcessors);
  }

  /** Returns the same with another value. */
  public Setup withNodes(int other) {
    return new Setup(
        capacityShare, other, originFactor, readers, acceleratorFactor, moreProcessors);
  }

  /** Returns the same with another value. */
  public Setup withOriginFactor(double other) {
    return new Setup(capacityShare, nodes, other, readers, acceleratorFactor, moreProcessors);
  }

  /** Returns the same with another value. */
  public Setup withReaders(int other) {
    return new Setup(capacityShare, nodes, originFactor, other, acceleratorFactor, moreProcessors);
  }

  /** Returns the same with another value. */
  public Setup withAcceleratorFactor(double other) {
    return new Setup(capacityShare, nodes, originFactor, readers, other, moreProcessors);
  }

  /** Returns the same with another value. */
  public Setup withMoreProcessors(int other) {
    return new Setup(capacityShare, nodes, originFactor, readers, acceleratorFactor, other);
  }

  /** Returns the share of the dataset that is in the memory of any node. */
  public double hitShare() {
    return Math.min(1, capacityShare * nodes);
  }
}
