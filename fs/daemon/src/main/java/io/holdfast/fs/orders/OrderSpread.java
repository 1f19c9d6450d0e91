package io.holdfast.fs.orders;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.transit.Item;
import io.holdfast.policy.EvenSpread;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Spreads the residents over one pass of an order: {@link EvenSpread}, by the items of the order's
 * files. Guarded by the monitor of its {@link Order}.
 */
final class OrderSpread {
  private final Places places;
  private final EvenSpread spread;

  private OrderSpread(Places places, EvenSpread spread) {
    this.places = places;
    this.spread = spread;
  }

  /**
   * Looks at all items of a pass, which takes some time.
   *
   * @param goesOn whether the pass before was spread, too
   * @return null if there is nothing to swap, or a file has two places
   */
  static @Nullable OrderSpread over(FileSequence pass, DatasetFiles files, boolean goesOn) {
    Places places = Places.of(pass, files);
    EvenSpread spread =
        places == null || hasFileTwice(pass) ? null : EvenSpread.over(places, goesOn);
    return spread == null ? null : new OrderSpread(places, spread);
  }

  private static boolean hasFileTwice(FileSequence pass) {
    long[] ids = new long[pass.size()];
    Arrays.setAll(ids, pass::get);
    Arrays.sort(ids);
    for (int i = 1; i < ids.length; i++) {
      if (ids[i] == ids[i - 1]) {
        return true;
      }
    }
    return false;
  }

  /** Notes that the job has opened a file, by its position in the pass. */
  void opened(int position) {
    for (int place = places.first(position); place < places.first(position + 1); place++) {
      spread.read(place);
    }
  }

  /** Notes that no file before a position is still being read. */
  void passed(int position) {
    if (position > 0) {
      spread.passed(places.first(Math.min(position, places.pass.size())));
    }
  }

  /** Tells whether an item of the file at a position is to take the place of a resident. */
  boolean wants(int position, Item item) {
    return spread.wants(place(position, item));
  }

  private int place(int position, Item item) {
    long place = places.first(position) + item.key().extent();
    return place < places.first(position + 1) ? (int) place : EvenSpread.NONE;
  }

  /** Returns the resident that makes way for an item of the file at a position. */
  @Nullable ItemKey victim(int position, Item item, long freePages, long slackPages) {
    int newcomer = place(position, item);
    int victim = spread.victim(newcomer, freePages, slackPages);
    while (victim != EvenSpread.NONE) {
      Item there = places.item(victim);
      if (there != null) {
        return there.key();
      }
      victim = spread.victim(newcomer, freePages, slackPages); // that file has changed
    }
    return null;
  }

  /** Notes that an item of the file at a position has taken the place of a resident. */
  void swapped(int position, Item item) {
    spread.swapped(place(position, item));
  }

  /** The items of the files, one after the other. */
  private static final class Places implements EvenSpread.Places {
    private final FileSequence pass;
    private final DatasetFiles files;

    /** The place of each file's first item; null where each file is one item. */
    private final int @Nullable [] firsts;

    private Places(FileSequence pass, DatasetFiles files, int @Nullable [] firsts) {
      this.pass = pass;
      this.files = files;
      this.firsts = firsts;
    }

    /** Returns null where there are too many items. */
    static @Nullable Places of(FileSequence pass, DatasetFiles files) {
      int count = pass.size();
      if (count > EvenSpread.MOST_PLACES) {
        return null;
      }
      int[] firsts = new int[count + 1];
      boolean single = true;
      for (int i = 0; i < count; i++) {
        long items = files.items(pass.get(i));
        if (firsts[i] + items > EvenSpread.MOST_PLACES) {
          return null;
        }
        single &= items == 1;
        firsts[i + 1] = (int) (firsts[i] + items);
      }
      return new Places(pass, files, single ? null : firsts);
    }

    int first(int position) {
      return firsts == null ? position : firsts[position];
    }

    @Override
    public int count() {
      return first(pass.size());
    }

    @Override
    public int weight(int place) {
      Item item = item(place);
      return item == null ? 0 : (int) (Residency.weight(item.length()) / Linux.PAGE_SIZE);
    }

    @Override
    public boolean isResident(int place) {
      Item item = item(place);
      return item != null && files.isResident(item);
    }

    @Nullable Item item(int place) {
      int position = position(place);
      return files.item(pass.get(position), (long) place - first(position));
    }

    /** Returns the file of an item: the last of those that begin there, since others are empty. */
    private int position(int place) {
      if (firsts == null) {
        return place;
      }
      int from = 0;
      int to = pass.size() - 1;
      while (from < to) {
        int middle = (from + to + 1) >>> 1;
        if (firsts[middle] <= place) {
          from = middle;
        } else {
          to = middle - 1;
        }
      }
      return from;
    }
  }
}
