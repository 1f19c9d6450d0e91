package io.holdfast.fs.daemon;

import java.util.function.LongConsumer;

/**
 * Tells the policy how much there is to choose from: the part of the dataset that this node owns.
 * Thread-safe; the monitor guards the fields.
 */
final class OwnShare {
  private final LongConsumer policy;
  private double share = 1;
  private long datasetBytes = -1;

  /**
   * Begins with all of a dataset that was not counted yet.
   *
   * @param policy learns bytes, in whole pages
   */
  OwnShare(LongConsumer policy) {
    this.policy = policy;
  }

  /** Learns how large the whole dataset is, in bytes. */
  synchronized void datasetSize(long bytes) {
    datasetBytes = bytes;
    tell();
  }

  /** Learns what part of it this node owns, from 0 to 1. */
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
