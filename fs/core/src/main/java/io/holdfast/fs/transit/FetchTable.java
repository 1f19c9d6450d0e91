package io.holdfast.fs.transit;

import io.holdfast.fs.ItemKey;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The fetches that readers can join: at most one fetch of each whole item, and fetches of parts
 * that do not overlap. A part may overlap with a fetch of the whole item that was added later; then
 * readers find the whole. Thread-safe without a lock of its own: arrays are replaced, never
 * changed.
 */
final class FetchTable {
  private final ConcurrentHashMap<ItemKey, Fetch> wholes = new ConcurrentHashMap<>();

  /** By item, the fetches of its parts, in order. */
  private final ConcurrentHashMap<ItemKey, Fetch[]> parts = new ConcurrentHashMap<>();

  /** Returns the fetch of a whole item. */
  @Nullable Fetch whole(ItemKey item) {
    return wholes.get(item);
  }

  /** Returns the fetch that has a byte of an item, or will have it. */
  @Nullable Fetch at(ItemKey item, int offset) {
    Fetch whole = wholes.get(item);
    if (whole != null) {
      return whole;
    }
    Fetch[] all = parts.get(item);
    if (all == null) {
      return null;
    }
    int index = firstEndingAfter(all, offset);
    return index < all.length && all[index].from() <= offset ? all[index] : null;
  }

  /**
   * Returns the end of the gap between fetches that begins at an offset; the offset itself where a
   * fetch has its byte.
   */
  int gapEnd(ItemKey item, int offset, int limit) {
    Fetch[] all = parts.get(item);
    if (all == null) {
      return limit;
    }
    int index = firstEndingAfter(all, offset);
    return index < all.length ? Math.max(offset, Math.min(limit, all[index].from())) : limit;
  }

  private static int firstEndingAfter(Fetch[] all, int offset) {
    int low = 0;
    int high = all.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (all[middle].upTo() > offset) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  /**
   * Adds a fetch.
   *
   * @param overParts whether to add a whole item even over parts; otherwise the fetch must not
   *     overlap with any other, even if it is of a whole item
   * @return false where another fetch is in its place by now
   */
  boolean add(Fetch fetch, boolean overParts) {
    ItemKey item = fetch.whole().key();
    if (overParts) {
      return addWhole(item, fetch);
    }
    AtomicBoolean added = new AtomicBoolean();
    parts.compute(
        item,
        (id, all) -> {
          if (fetch.isOfWhole()) {
            added.set(all == null && addWhole(item, fetch));
            return all;
          }
          Fetch[] now = wholes.containsKey(item) ? all : with(all, fetch);
          added.set(now != all);
          return now;
        });
    return added.get();
  }

  private boolean addWhole(ItemKey item, Fetch fetch) {
    return wholes.putIfAbsent(item, fetch) == null;
  }

  private static Fetch[] with(Fetch @Nullable [] all, Fetch fetch) {
    if (all == null) {
      return new Fetch[] {fetch};
    }
    int index = firstEndingAfter(all, fetch.from());
    if (index < all.length && all[index].from() < fetch.upTo()) {
      return all;
    }
    Fetch[] more = Arrays.copyOf(all, all.length + 1);
    System.arraycopy(all, index, more, index + 1, all.length - index);
    more[index] = fetch;
    return more;
  }

  /** Removes a fetch, if it is in the table. */
  void remove(Fetch fetch) {
    ItemKey item = fetch.whole().key();
    if (fetch.isOfWhole()) {
      wholes.remove(item, fetch);
    } else {
      parts.computeIfPresent(item, (id, all) -> without(all, fetch));
    }
  }

  private static Fetch @Nullable [] without(Fetch[] all, Fetch fetch) {
    int index = firstEndingAfter(all, fetch.from());
    if (index == all.length || all[index] != fetch) {
      return all;
    }
    if (all.length == 1) {
      return null;
    }
    Fetch[] fewer = Arrays.copyOf(all, all.length - 1);
    System.arraycopy(all, index + 1, fewer, index, all.length - 1 - index);
    return fewer;
  }

  /** Returns the fetches of an item and of its parts. */
  List<Fetch> of(ItemKey item) {
    Fetch whole = wholes.get(item);
    if (whole != null) {
      return List.of(whole);
    }
    Fetch[] all = parts.get(item);
    return all == null ? List.of() : List.of(all);
  }

  /** Passes every fetch. */
  void forEach(Consumer<Fetch> action) {
    wholes.values().forEach(action);
    for (Fetch[] all : parts.values()) {
      for (Fetch each : all) {
        action.accept(each);
      }
    }
  }
}
