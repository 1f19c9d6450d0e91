package io.holdfast.fs;

/**
 * Puts bytes into the page cache of the own mount of which nobody has asked the daemon yet.
 * Thread-safe.
 */
public interface PageStore {
  /** One that cannot. */
  PageStore NONE = (node, offset, address, length, taker) -> false;

  /**
   * Begins to put bytes of a file into the page cache, charged to this process. The kernel may drop
   * them again, as any others.
   *
   * @param offset first byte, at the beginning of a page
   * @param address where the bytes are, valid until it is done
   * @param length of whole pages, or up to the end of the file
   * @param taker told once when it is over, on a thread that is not to be kept waiting
   * @return false where that is not possible: the taker is not told then
   */
  boolean store(long node, long offset, long address, int length, Taker taker);

  /** Learns how it ended. */
  interface Taker {
    /**
     * It is over.
     *
     * @param known whether the kernel knows the file; it takes nothing of others
     */
    void over(boolean known);
  }
}
