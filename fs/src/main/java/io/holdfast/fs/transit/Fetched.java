package io.holdfast.fs.transit;

/**
 * An item whose bytes have arrived whole and were checked. Its memory is there until {@link
 * #done()}, or until its version is gone. Thread-safe.
 */
public interface Fetched {
  /** Returns the item. */
  Item item();

  /**
   * Keeps its memory until {@link #release()}, also where it is {@linkplain #isOutdated() outdated}
   * meanwhile.
   *
   * @return where its first byte is; or 0 where the memory is gone, and there is nothing to release
   */
  long hold();

  /** Ends what {@link #hold()} began. */
  void release();

  /** Returns the first of its bytes that no read of a program has been answered with. */
  int firstUndelivered();

  /**
   * Returns how many reads by processes of another memory cgroup than the daemon's have been
   * answered; the pages that they brought in are charged there.
   */
  int readsFromElsewhere();

  /** Tells whether the file has another version by now: then nobody will let go of this one. */
  boolean isOutdated();

  /**
   * Gives the memory back: the item is pinned, or will not be. Called once by whoever admitted the
   * item.
   */
  void done();
}
