package io.holdfast.fs.tasks;

import io.holdfast.fs.residency.PinLimits;
import io.holdfast.fs.residency.Pins;

/** The capacity and the pins of a running mount, as tasks change them. Thread-safe. */
public interface LiveCapacity {
  /** Returns the bytes that 100 % stands for. */
  long memory();

  /** Returns the largest capacity that fits within {@code --memory}, in bytes. */
  long largest();

  /**
   * Raises this process's limits for pinning as far as it may.
   *
   * @param capacity bytes that residents may take
   */
  PinLimits prepare(long capacity);

  /**
   * Learns the new capacity, in bytes: other nodes place items by it.
   *
   * @param withinBudget whether a mount that has joined the node's budget is still a part of it;
   *     else the capacity is the mount's own from now on
   */
  void changed(long capacity, boolean withinBudget);

  /** Records the pinned names for the mount's next daemon. */
  void pinned(Pins.Names names);
}
