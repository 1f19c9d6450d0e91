package io.holdfast.fs.transit;

import io.holdfast.fs.FetchUse;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.ReadSource;
import org.jspecify.annotations.Nullable;

/** What transit asks and tells of the items that pass through it. Thread-safe; no method blocks. */
public interface FetchListener {
  /**
   * Tells whether an item would be admitted now. A hint: it decides whether to fetch the whole
   * item.
   */
  boolean wouldAdmit(Item item);

  /**
   * Answers a read from a resident item.
   *
   * @param offset first byte, within the item
   * @return false where the item is not resident; the reply is untouched then
   */
  boolean serve(Item item, int offset, int length, ReadReply reply);

  /**
   * Decides on an item that has arrived whole. Called once per fetch.
   *
   * @return whether it was admitted; {@link Fetched#done()} is called later then
   */
  boolean offer(Fetched fetched);

  /**
   * Learns that bytes of an item that was not admitted went to the kernel, whose pages hold them
   * now.
   *
   * @param bytes how many more than before
   * @param complete whether every byte of the item has been delivered
   */
  void delivered(Item item, int bytes, boolean complete);

  /**
   * Returns what learns who uses a fetch that an application's read begins, or will.
   *
   * @param item the whole item
   * @param range what is fetched of it
   */
  default FetchUse use(Item item, Item range, Reader reader) {
    return FetchUse.NONE;
  }

  /**
   * Learns that a fetch has ended.
   *
   * @param source where its bytes came from
   * @param nanos since it was begun, waiting for its turn included
   * @param failure why it failed, or null
   */
  void ended(Item item, ReadSource source, long nanos, @Nullable FsException failure);

  /** Learns that the origin has another version of this item's file by now. */
  void changed(Item item);
}
