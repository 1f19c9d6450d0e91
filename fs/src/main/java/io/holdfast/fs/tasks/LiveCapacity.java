package io.holdfast.fs.tasks;

import io.holdfast.fs.residency.Pins;

/** What lies around the capacity and the pins that users change. Thread-safe. */
public interface LiveCapacity {
  /** Returns the bytes that 100 % stands for. */
  long memory();

  /** Returns the largest capacity that there is room for within {@code --memory}, in bytes. */
  long largest();

  /**
   * Has the machine let this process pin as much.
   *
   * @return how many residents there may be then
   */
  long prepare(long capacity);

  /** Learns that the capacity is another, in bytes, for whoever places items by it. */
  void changed(long capacity);

  /** Learns what is pinned by name, for the next daemon of the mount. */
  void pinned(Pins.Names names);
}
