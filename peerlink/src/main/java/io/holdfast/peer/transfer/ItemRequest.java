package io.holdfast.peer.transfer;

import io.holdfast.peer.Dataset;

/**
 * What one node asks of another. Immutable.
 *
 * @param dataset whose item it is
 * @param path of the file, relative to the dataset's root
 * @param extent the item's number within the file
 * @param tag identity of the file's version, as both nodes write it; printable ASCII without quotes
 * @param itemLength bytes of the item
 * @param from first byte wanted, within the item
 * @param length bytes wanted
 * @param onlyIfCached answer from what is resident, and fetch nothing
 */
public record ItemRequest(
    Dataset dataset,
    ItemPath path,
    long extent,
    String tag,
    int itemLength,
    int from,
    int length,
    boolean onlyIfCached) {
  /** Tells whether all of the item is wanted. */
  public boolean isWhole() {
    return from == 0 && length == itemLength;
  }
}
