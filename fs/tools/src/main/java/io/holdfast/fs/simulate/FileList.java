package io.holdfast.fs.simulate;

import io.holdfast.fs.units.Human;
import io.holdfast.policy.ItemHash;
import io.holdfast.policy.simulator.AccessOrder;
import io.holdfast.policy.simulator.Dataset;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The files of a simulation, by number from 0, and their items. As in a mount, a file of at most
 * the item size is one item, and a larger file has extents of that size. Immutable.
 */
public final class FileList {
  /** The most items: as many as an array can have. */
  static final int MOST_ITEMS = Integer.MAX_VALUE - 8;

  private final Dataset dataset;

  /** The first item of each file, and the number of items; null if file n is item n. */
  private final int @Nullable [] firstItems;

  private FileList(Dataset dataset, int @Nullable [] firstItems) {
    this.dataset = dataset;
    this.firstItems = firstItems;
  }

  /** Returns files, with the larger ones cut into items. */
  static FileList cut(Dataset files, long itemSize) {
    boolean whole = true;
    for (int file = 0; whole && file < files.items(); file++) {
      whole = files.size(file) <= itemSize;
    }
    if (whole) {
      return new FileList(files, null);
    }
    Builder builder = new Builder(itemSize);
    for (int file = 0; file < files.items(); file++) {
      builder.add(files.size(file));
    }
    return builder.build();
  }

  /** Returns the items of all files, in order. */
  public Dataset dataset() {
    return dataset;
  }

  /** Returns the number of files. */
  public int files() {
    return firstItems == null ? dataset.items() : firstItems.length - 1;
  }

  /**
   * Returns an order of items in which files are read whole, each from its beginning.
   *
   * @param files an order of file numbers
   */
  public AccessOrder whole(AccessOrder files) {
    if (firstItems == null) {
      return files;
    }
    return new AccessOrder() {
      @Override
      public String name() {
        return files.name();
      }

      @Override
      public int[] epoch(int epoch, SplittableRandom random) {
        return items(files.epoch(epoch, random));
      }
    };
  }

  /** Returns the items of files, in order. */
  int[] items(int[] files) {
    if (firstItems == null) {
      return files.clone();
    }
    long count = 0;
    for (int file : files) {
      count += firstItems[file + 1] - firstItems[file];
    }
    int[] items = new int[Math.toIntExact(count)];
    int filled = 0;
    for (int file : files) {
      for (int item = firstItems[file]; item < firstItems[file + 1]; item++) {
        items[filled++] = item;
      }
    }
    return items;
  }

  /** Collects files. Not thread-safe. */
  static final class Builder {
    private final long itemSize;
    private long[] sizes = new long[1 << 10];
    private long[] hashes = new long[1 << 10];
    private int[] firstItems = new int[1 << 10];
    private int files;
    private int items;

    /**
     * Creates a builder without files.
     *
     * @param itemSize bytes, above 0
     */
    Builder(long itemSize) {
      this.itemSize = itemSize;
    }

    /**
     * Adds a file that has no name.
     *
     * @return its number
     */
    int add(long size) {
      int first = items;
      return add(size, offset -> ItemHash.of(first + offset / itemSize));
    }

    /**
     * Adds a file.
     *
     * @param path relative to the dataset's root
     * @return its number
     */
    int add(long size, byte[] path) {
      return add(size, offset -> ItemHash.of(path, offset));
    }

    private int add(long size, LongUnaryOperator hashAt) {
      long extents = size / itemSize + (size % itemSize == 0 ? 0 : 1);
      if (extents > MOST_ITEMS - items) {
        throw new IllegalArgumentException(
            "the dataset has more than "
                + Human.grouped(MOST_ITEMS)
                + " items: give smaller sizes or a larger --item-size");
      }
      makeRoom((int) extents);
      for (long offset = 0; offset < size; offset += itemSize) {
        sizes[items] = Math.min(itemSize, size - offset);
        hashes[items++] = hashAt.applyAsLong(offset);
      }
      firstItems[++files] = items;
      return files - 1;
    }

    private void makeRoom(int extents) {
      if (sizes.length - items < extents) {
        int length = (int) Math.min(MOST_ITEMS, Math.max(2L * items, (long) items + extents));
        sizes = Arrays.copyOf(sizes, length);
        hashes = Arrays.copyOf(hashes, length);
      }
      if (firstItems.length < files + 2) {
        firstItems = Arrays.copyOf(firstItems, (int) Math.min(MOST_ITEMS, 2L * files + 2));
      }
    }

    boolean isEmpty() {
      return items == 0;
    }

    /**
     * Returns the files.
     *
     * @throws IllegalArgumentException if there are none
     */
    FileList build() {
      Dataset dataset = Dataset.of(Arrays.copyOf(sizes, items), Arrays.copyOf(hashes, items));
      return new FileList(dataset, items == files ? null : Arrays.copyOf(firstItems, files + 1));
    }
  }
}
