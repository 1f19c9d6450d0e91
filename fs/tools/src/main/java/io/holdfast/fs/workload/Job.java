package io.holdfast.fs.workload;

import io.holdfast.fs.allocate.PlannedMount;

/**
 * A job of a workload. Immutable.
 *
 * @param mount its dataset and rates; the weight is the number of its accelerators
 * @param arrival seconds
 * @param epochs passes over the dataset
 * @param accelerators that it occupies on one node while it runs
 */
public record Job(PlannedMount mount, double arrival, int epochs, int accelerators) {
  /** Returns its name. */
  public String name() {
    return mount.name();
  }

  /** Returns the bytes that it reads in all its epochs. */
  double bytes() {
    return (double) mount.dataset() * epochs;
  }
}
