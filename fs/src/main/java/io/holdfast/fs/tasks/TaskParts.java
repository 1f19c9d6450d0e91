package io.holdfast.fs.tasks;

import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.transit.Content;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.ItemLayout;
import io.holdfast.fs.transit.Transit;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.Tree;
import java.util.concurrent.ThreadFactory;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * What tasks work with. Immutable.
 *
 * @param isListed whether all names of the dataset are known
 * @param mayKeep whether an item is one for this node to keep
 * @param capacity what is to be known of the capacity, and who is to learn of another one
 * @param threads make the threads of tasks
 * @param nanoTime a clock of nanoseconds
 */
public record TaskParts(
    Tree tree,
    ItemLayout layout,
    Transit transit,
    Residency residency,
    BooleanSupplier isListed,
    Predicate<Item> mayKeep,
    LiveCapacity capacity,
    ThreadFactory threads,
    LongSupplier nanoTime) {

  /**
   * Extents of one file that tasks look at: those of 8 TiB, where items are of 8 MiB. A file that
   * has more has holes, in all likelihood, and would keep a task for ever.
   */
  static final long MOST_ITEMS = 1 << 20;

  /** Returns how many items of a file are looked at: all, unless it is out of all proportion. */
  long items(Node file) {
    return Math.min(layout.count(file.attributes().size()), MOST_ITEMS);
  }

  /** Returns how many items of a file are not looked at. */
  long itemsLeftOut(Node file) {
    return layout.count(file.attributes().size()) - items(file);
  }

  /** Returns the bytes in them. */
  long bytesLeftOut(Node file) {
    // exact: where any is left out, the others are whole
    return itemsLeftOut(file) == 0 ? 0 : file.attributes().size() - MOST_ITEMS * layout.itemSize();
  }

  /** Returns one of a file's items, counted from 0. */
  Item item(Node file, long extent) {
    Content content = new Content(file.id(), file::path, file.version());
    return layout.item(content, extent);
  }

  /** Tells whether an item is the last one of its file. */
  boolean isLast(Item item) {
    return item.offset() + item.length() == item.version().size();
  }
}
