package io.holdfast.fs.orders;

import io.holdfast.fs.ControlInodes;
import io.holdfast.fs.FsException;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.stats.Activity;
import io.holdfast.fs.transit.Content;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.ItemLayout;
import io.holdfast.fs.transit.Transit;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.Tree;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The parts of the daemon that orders use. Immutable.
 *
 * @param isListed tells whether the dataset has been listed, as far as the origin did it
 * @param countsOpens tells whether opens are counted, without which nobody knows where a job is
 * @param window the bounds of items that were not admitted in the page cache
 * @param nanoTime a clock of nanoseconds
 */
public record OrderParts(
    Tree tree,
    ItemLayout layout,
    Transit transit,
    Residency residency,
    Activity activity,
    BooleanSupplier isListed,
    BooleanSupplier countsOpens,
    Residency.WindowSize window,
    LongSupplier nanoTime)
    implements DatasetFiles {
  /** Parts of transit's memory, and of the window, that files may take ahead of their readers. */
  private static final int PART = 4;

  /** How long transit keeps an item without a reader. */
  private static final long TRANSIT_NANOS = 10_000_000_000L;

  @Override
  public long inode(long id) {
    Node file = tree.handle(id);
    return file == null || file.isStale() ? ControlInodes.NO_FILE : file.inode();
  }

  /**
   * A file of several items is read ahead by its reader's own reads, so only its first item is
   * fetched, and only if its readers fetch the item whole, too.
   */
  @Override
  public @Nullable Item missing(long id) {
    Content content = content(id);
    long items = content == null ? 0 : layout.count(content.version().size());
    if (content == null || items == 0) {
      return null;
    }
    Item first = layout.item(content, 0);
    boolean whole = items == 1 || residency.wouldAdmit(first);
    return whole && !residency.isResident(first) ? first : null;
  }

  @Override
  public boolean isCached(Item item) {
    return residency.isInWindow(item);
  }

  @Override
  public boolean maySwap() {
    return residency.maySwap();
  }

  @Override
  public long items(long id) {
    Content content = content(id);
    return content == null ? 0 : layout.count(content.version().size());
  }

  @Override
  public @Nullable Item item(long id, long extent) {
    Content content = content(id);
    if (content == null || extent >= layout.count(content.version().size())) {
      return null;
    }
    Item item = layout.item(content, extent);
    return residency.isLeftToPolicy(item) ? item : null;
  }

  @Override
  public boolean isResident(Item item) {
    return residency.isResident(item);
  }

  private @Nullable Content content(long id) {
    try {
      Node file = tree.node(id);
      return new Content(file.id(), file::path, file.version());
    } catch (FsException e) {
      return null; // another version has taken its name
    }
  }

  /** Returns how long a file that was fetched ahead waits for its reader, in nanoseconds. */
  long patienceNanos() {
    long kept = window.size() == 0 ? TRANSIT_NANOS : window.unreadAge().toNanos();
    return Math.min(kept, TRANSIT_NANOS) / 5 * 4;
  }

  /** Returns the bytes that all orders together may have ahead of their readers. */
  long mostAhead() {
    long transitPart = transit.capacityForReaders() / PART;
    return window.size() == 0 ? transitPart : Math.min(transitPart, window.size() / PART);
  }
}
