package io.holdfast.fs.peers;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.holdfast.fs.origin.Version;
import io.holdfast.fs.transit.Item;
import io.holdfast.peer.Dataset;
import io.holdfast.peer.transfer.ItemPath;
import io.holdfast.peer.transfer.ItemRequest;
import java.net.URLEncoder;

/** Puts what this node means into what peers understand. Stateless. */
final class Requests {
  private Requests() {}

  /**
   * Makes a request.
   *
   * @param item the item
   * @param range the part of it that is wanted, or all of it
   */
  static ItemRequest of(Dataset dataset, Item item, Item range, boolean onlyIfCached) {
    return new ItemRequest(
        dataset,
        ItemPath.of(item.path().get().bytes()),
        Item.extent(item.id()),
        tag(item.version()),
        item.length(),
        (int) (range.offset() - item.offset()),
        range.length(),
        onlyIfCached);
  }

  /**
   * Writes a version so that every node writes the same: without the inode number, in which copies
   * of a dataset differ, and without the time where the store has a name for the content.
   */
  static String tag(Version version) {
    String size = Long.toHexString(version.size());
    return version.etag().isEmpty()
        ? size + "-" + Long.toHexString(version.modified())
        : size + "-" + URLEncoder.encode(version.etag(), UTF_8);
  }
}
