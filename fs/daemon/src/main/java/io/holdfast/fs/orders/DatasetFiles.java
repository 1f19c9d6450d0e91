package io.holdfast.fs.orders;

import io.holdfast.fs.transit.Item;
import org.jspecify.annotations.Nullable;

/** The files of the dataset, as an order needs them. Thread-safe; no method waits. */
interface DatasetFiles {
  /** Returns the inode number by which opens name a file; negative if the file has gone. */
  long inode(long id);

  /**
   * Returns the item of a file that can be fetched ahead; null if there is nothing to fetch: the
   * file is resident, empty, gone, or its reader will not read it whole.
   */
  @Nullable Item missing(long id);

  /** Tells whether the kernel has all of an item for now, since somebody has just read it. */
  boolean isCached(Item item);
}
