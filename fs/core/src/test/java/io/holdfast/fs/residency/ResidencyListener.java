package io.holdfast.fs.residency;

import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.transit.Borrower;
import io.holdfast.fs.transit.FetchListener;
import io.holdfast.fs.transit.Fetched;
import io.holdfast.fs.transit.Item;
import org.jspecify.annotations.Nullable;

/** Passes transit's questions to residency, as a mount does, and counts nothing. */
public record ResidencyListener(Residency residency) implements FetchListener {
  @Override
  public boolean wouldAdmit(Item item) {
    return residency.wouldAdmit(item);
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
  public void changed(Item item) {}

  @Override
  public void ended(Item item, ReadSource source, long nanos, @Nullable FsException failure) {}
}
