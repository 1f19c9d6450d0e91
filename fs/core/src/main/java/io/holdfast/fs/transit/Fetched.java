package io.holdfast.fs.transit;

/**
 * A whole item whose bytes have arrived and were checked. Its memory stays until {@link #done()},
 * or until its version is gone. Thread-safe.
 */
public interface Fetched {
  /** Returns the item. */
  Item item();

  /**
   * Keeps the memory until {@link #release()}, even if the item becomes {@linkplain #isOutdated()
   * outdated}.
   *
   * @return the address of the first byte; or 0 where the memory is gone, and then there is nothing
   *     to release
   */
  long hold();

  /** Ends the use that {@link #hold()} began. */
  void release();

  /** Returns the first byte that no program's read has been answered with. */
  int firstUndelivered();

  /**
   * Returns how many reads by processes of another memory cgroup than the daemon's have been
   * answered. Their cgroup is charged for the pages that they brought in.
   */
  int readsFromElsewhere();

  /** Tells whether an order predicted its reader, who has not arrived yet. */
  boolean isPredicted();

  /**
   * Tells whether the file has another version by now. If so, nobody else will release an item that
   * is admitted only now.
   */
  boolean isOutdated();

  /**
   * Lets other fetches have the memory if they need it before {@link #done()}: whoever took the
   * item needs the bytes no more. Only a reader whose pages were dropped would, or a peer; so the
   * memory stays where peers may ask for the item.
   */
  void giveWay();

  /**
   * Frees the memory: the item is pinned, or will not be. The component that took the item calls
   * this or {@link #passedOn()}, once.
   */
  void done();

  /**
   * Frees the memory, unless other jobs want the bytes: the kernel has the pages for now, or could
   * not be given them.
   */
  void passedOn();
}
