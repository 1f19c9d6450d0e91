package io.holdfast.fs.transit;

import io.holdfast.fs.FetchUse;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadSource;
import org.jspecify.annotations.Nullable;

/**
 * Decides on the items that pass through transit, and learns of their fetches. Thread-safe; no
 * method blocks.
 */
public interface FetchListener {
  /**
   * Tells whether an item would be admitted now. A hint that decides whether to fetch the whole
   * item.
   */
  boolean wouldAdmit(Item item);

  /**
   * Answers a read from a resident item.
   *
   * @param offset first byte, within the item
   * @return false where the item is not resident; the borrower has not been called then
   */
  boolean serve(Item item, int offset, int length, Borrower borrower);

  /**
   * Decides on an item that has arrived completely. Called once a fetch.
   *
   * @return whether the item was admitted, or its pages are given to the kernel ahead of its
   *     reader; {@link Fetched#done()} or {@link Fetched#passedOn()} is called later then
   */
  boolean offer(Fetched fetched);

  /**
   * Learns that bytes of an item that was not admitted went to the kernel, which caches them now.
   *
   * @param bytes bytes that were not delivered before
   * @param complete whether every byte of the item has been delivered
   */
  void delivered(Item item, int bytes, boolean complete);

  /**
   * Returns the observer of a fetch that an application's read begins, or for which one is
   * expected.
   *
   * @param item the whole item
   * @param range the fetched part
   */
  default FetchUse use(Item item, Item range, Reader reader) {
    return FetchUse.NONE;
  }

  /**
   * Learns that a fetch has ended.
   *
   * @param source the source of the bytes
   * @param nanos duration, including the wait for its turn
   * @param failure the cause of a failure, or null
   */
  void ended(Item item, ReadSource source, long nanos, @Nullable FsException failure);

  /** Learns that the origin has another version of an item's file. */
  void changed(Item item);
}
