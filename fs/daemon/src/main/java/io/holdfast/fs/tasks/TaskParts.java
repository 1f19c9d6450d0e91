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
import java.util.function.LongUnaryOperator;
import java.util.function.Predicate;

/**
 * The parts of the daemon that tasks use. Immutable.
 *
 * @param isListed tells whether the dataset has been listed, as far as the origin did it
 * @param isWhole tells whether no directory was left out then
 * @param mayKeep tells whether this node may keep an item
 * @param capacity the capacity and the pins of the mount
 * @param allowed tells the bytes of a capacity that residents may take now
 * @param threads creates the threads of tasks
 * @param nanoTime a clock of nanoseconds
 */
public record TaskParts(
    Tree tree,
    ItemLayout layout,
    Transit transit,
    Residency residency,
    BooleanSupplier isListed,
    BooleanSupplier isWhole,
    Predicate<Item> mayKeep,
    LiveCapacity capacity,
    LongUnaryOperator allowed,
    ThreadFactory threads,
    LongSupplier nanoTime) {

  /**
   * Most extents of a file that tasks visit: 8 TiB where items have 8 MiB. A larger file is most
   * likely sparse and would keep a task busy for ever.
   */
  static final long MOST_ITEMS = 1 << 20;

  /** Returns how many items of a file tasks visit: all, up to {@link #MOST_ITEMS}. */
  long items(Node file) {
    return Math.min(layout.count(file.attributes().size()), MOST_ITEMS);
  }

  /** Returns how many items of a file tasks skip. */
  long itemsLeftOut(Node file) {
    return layout.count(file.attributes().size()) - items(file);
  }

  /** Returns the bytes of the skipped items. */
  long bytesLeftOut(Node file) {
    // exact: where items are skipped, the others are complete
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
