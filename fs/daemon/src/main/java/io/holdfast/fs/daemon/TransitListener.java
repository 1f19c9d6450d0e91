package io.holdfast.fs.daemon;

import io.holdfast.fs.AccessLog;
import io.holdfast.fs.FetchUse;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.mount.DatasetChanges;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.stats.Activity;
import io.holdfast.fs.transit.Borrower;
import io.holdfast.fs.transit.FetchListener;
import io.holdfast.fs.transit.Fetched;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.Reader;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Passes transit's questions to residency, its fetches to the counters and the access log, and
 * changed items to the filesystem. Thread-safe.
 *
 * @param mayKeep tells whether this node may keep an item
 * @param changes called only once the mount answers
 */
record TransitListener(
    Residency residency,
    Predicate<Item> mayKeep,
    Activity activity,
    AccessLog accesses,
    Supplier<DatasetChanges> changes)
    implements FetchListener {
  @Override
  public boolean wouldAdmit(Item item) {
    return mayKeep.test(item) && (residency.wouldAdmit(item) || residency.wouldSwap(item));
  }

  @Override
  public boolean serve(Item item, int offset, int length, Borrower borrower) {
    return residency.serve(item, offset, length, borrower);
  }

  @Override
  public boolean offer(Fetched fetched) {
    return residency.offer(fetched);
  }

  @Override
  public void delivered(Item item, int bytes, boolean complete) {
    residency.noteDelivered(item, bytes, complete);
  }

  @Override
  public FetchUse use(Item item, Item range, Reader reader) {
    boolean whole = range.length() == item.length();
    if (!whole && mayKeep.test(item)) {
      residency.noteAsked(item);
    }
    return activity.fetch(item.key(), whole, range.offset() == item.offset(), reader.thread());
  }

  @Override
  public void ended(Item item, ReadSource source, long nanos, @Nullable FsException failure) {
    if (accesses.wantsNext()) {
      accesses.add(Accesses.fetch(item, source, nanos, failure));
    }
  }

  @Override
  public void changed(Item item) {
    changes.get().changed(item.node());
  }
}
