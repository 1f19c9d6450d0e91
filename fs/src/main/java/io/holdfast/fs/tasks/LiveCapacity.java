package io.holdfast.fs.tasks;

import io.holdfast.fs.residency.PinLimits;
import io.holdfast.fs.residency.Pins;

/** What lies around the capacity and the pins that users change. Thread-safe. */
public interface LiveCapacity {
  /** Returns the bytes that 100 % stands for. */
  long memory();

  /** Returns the largest capacity that there is room for within {@code --memory}, in bytes. */
  long largest();

  /**
   * Raises what the machine lets this process pin, as far as it may.
   *
   * @param capacity bytes that residents may take
   */
  PinLimits prepare(long capacity);

  /** Learns that the capacity is another, in bytes, for whoever places items by it. */
  void changed(long capacity);

  /** Learns what is pinned by name, for the next daemon of the mount. */
  void pinned(Pins.Names names);
}
