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
  /** Stands before the time of the last change. */
  private static final char CHANGED = '.';

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
        item.key().extent(),
        tag(item.version()),
        item.length(),
        (int) (range.offset() - item.offset()),
        range.length(),
        onlyIfCached);
  }

  /**
   * Writes a version as it is asked for: with the time of the last change of content or attributes
   * at the end, which nodes that read one store see alike, and which nobody can set.
   */
  static String tag(Version version) {
    return version.etag().isEmpty()
        ? content(version) + CHANGED + Long.toHexString(version.changed())
        : content(version);
  }

  /**
   * Tells whether a version is the one that is asked for.
   *
   * @param oneStore whether both nodes read one store, so that copies do not count
   */
  static boolean isAskedFor(String tag, Version version, boolean oneStore) {
    if (oneStore || !version.etag().isEmpty()) {
      return tag.equals(tag(version));
    }
    int changed = tag.lastIndexOf(CHANGED);
    return changed >= 0 && tag.substring(0, changed).equals(content(version));
  }

  /**
   * Writes a version so that every node writes the same: without the inode number, in which copies
   * of a dataset differ, and without the time where the store has a name for the content.
   */
  static String content(Version version) {
    String size = Long.toHexString(version.size());
    return version.etag().isEmpty()
        ? size + "-" + Long.toHexString(version.modified())
        : size + "-" + URLEncoder.encode(version.etag(), UTF_8);
  }
}
