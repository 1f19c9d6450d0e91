package io.holdfast.fs.daemon;

import java.util.function.LongConsumer;

/**
 * Tells the policy how many bytes it chooses from: the part of the dataset that this node owns.
 * Thread-safe; the monitor guards the fields.
 */
final class OwnShare {
  private final LongConsumer policy;
  private double share = 1;
  private long datasetBytes = -1;

  /**
   * Begins with a dataset that was not counted yet, all of which this node owns.
   *
   * @param policy takes the bytes, in whole pages
   */
  OwnShare(LongConsumer policy) {
    this.policy = policy;
  }

  /** Learns the size of the whole dataset, in bytes. */
  synchronized void datasetSize(long bytes) {
    datasetBytes = bytes;
    tell();
  }

  /** Learns the part of the dataset that this node owns, from 0 to 1. */
  synchronized void share(double part) {
    share = part;
    tell();
  }

  private void tell() {
    if (datasetBytes >= 0) {
      policy.accept(Math.round(datasetBytes * share));
    }
  }
}
