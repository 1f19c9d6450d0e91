package io.holdfast.peer.transfer;

import io.holdfast.peer.SharedDataset;

/**
 * A request for an item, from one node to another. Immutable.
 *
 * @param dataset the dataset of the item
 * @param path path of the file, relative to the dataset's root
 * @param extent the item's number within the file
 * @param tag identity of the file's version, equal on both nodes; printable ASCII without quotes
 * @param itemLength bytes of the item
 * @param from first requested byte, within the item
 * @param length requested bytes
 * @param onlyIfCached whether to answer only from cached bytes, without a fetch
 */
public record ItemRequest(
    SharedDataset dataset,
    ItemPath path,
    long extent,
    String tag,
    int itemLength,
    int from,
    int length,
    boolean onlyIfCached) {
  /** Tells whether the whole item is requested. */
  public boolean isWhole() {
    return from == 0 && length == itemLength;
  }
}
