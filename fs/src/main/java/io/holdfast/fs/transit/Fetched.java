package io.holdfast.fs.transit;

/**
 * An item whose bytes have arrived whole and were checked. Its memory is valid until {@link
 * #done()}. Thread-safe.
 */
public interface Fetched {
  /** Returns the item. */
  Item item();

  /**
   * Tells whether some of its pages were read in by a process of another memory cgroup than the
   * daemon's.
   */
  boolean readFromElsewhere();

  /**
   * Gives the memory back: the item is pinned, or will not be. Called once by whoever admitted the
   * item.
   */
  void done();
}
