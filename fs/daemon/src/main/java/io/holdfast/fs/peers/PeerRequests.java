package io.holdfast.fs.peers;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.holdfast.fs.origin.Version;
import io.holdfast.fs.transit.Item;
import io.holdfast.peer.SharedDataset;
import io.holdfast.peer.transfer.ItemPath;
import io.holdfast.peer.transfer.ItemRequest;
import java.net.URLEncoder;

/** Translates items and versions into requests to peers. Stateless. */
final class PeerRequests {
  /** Precedes the change time in a tag. */
  private static final char CHANGED = '.';

  private PeerRequests() {}

  /**
   * Makes a request.
   *
   * @param item the item
   * @param range the part that is needed, or all of it
   */
  static ItemRequest of(SharedDataset dataset, Item item, Item range, boolean onlyIfCached) {
    return new ItemRequest(
        dataset,
        ItemPath.of(item.path().get().bytes()),
        item.key().extent(),
        tag(item.version()),
        item.length(),
        (int) (range.offset() - item.offset()),
        range.length(),
        onlyIfCached);
  }

  /**
   * Returns the tag of a version in a request. It ends with the time of the last change of content
   * or attributes (ctime), which is equal on nodes that read one store, and which no user can set.
   */
  static String tag(Version version) {
    return version.etag().isEmpty()
        ? content(version) + CHANGED + Long.toHexString(version.changed())
        : content(version);
  }

  /**
   * Tells whether a version matches a requested tag.
   *
   * @param oneStore whether both nodes read one store; if so, a copy with another change time does
   *     not match
   */
  static boolean isAskedFor(String tag, Version version, boolean oneStore) {
    if (oneStore || !version.etag().isEmpty()) {
      return tag.equals(tag(version));
    }
    int changed = tag.lastIndexOf(CHANGED);
    return changed >= 0 && tag.substring(0, changed).equals(content(version));
  }

  /**
   * Returns the part of a tag that is equal on all nodes: without the inode number, which differs
   * between copies of a dataset, and without times where the store has an ETag.
   */
  static String content(Version version) {
    String size = Long.toHexString(version.size());
    return version.etag().isEmpty()
        ? size + "-" + Long.toHexString(version.modified())
        : size + "-" + URLEncoder.encode(version.etag(), UTF_8);
  }
}
