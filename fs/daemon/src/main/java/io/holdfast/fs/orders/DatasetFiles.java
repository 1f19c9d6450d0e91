package io.holdfast.fs.orders;

import io.holdfast.fs.ControlInodes;
import io.holdfast.fs.transit.Item;
import org.jspecify.annotations.Nullable;

/** The files of the dataset, as an order needs them. Thread-safe; no method waits. */
interface DatasetFiles {
  /**
   * Returns the inode number by which opens name a file; {@link ControlInodes#NO_FILE} if the file
   * has gone.
   */
  long inode(long id);

  /**
   * Returns the item of a file that can be fetched ahead; null if there is nothing to fetch: the
   * file is resident, empty, gone, or its reader will not read it whole.
   */
  @Nullable Item missing(long id);

  /** Tells whether the kernel has all of an item for now, since somebody has just read it. */
  boolean isCached(Item item);

  /** Tells whether residents may make way for other items. */
  boolean maySwap();

  /** Returns how many items a file has; 0 if it is empty or has gone. */
  long items(long id);

  /**
   * Returns an item of a file; null if it has gone, or if a user's rule says whether it is
   * resident.
   *
   * @param extent the number of the item, from 0 to before {@link #items}
   */
  @Nullable Item item(long id, long extent);

  /** Tells whether an item is resident. */
  boolean isResident(Item item);
}
