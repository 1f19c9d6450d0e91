package io.holdfast.fs.orders;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import io.holdfast.fs.transit.Item;
import org.jspecify.annotations.Nullable;

/** Files of one size, of which each is an item and none is resident. Its inode number is its id. */
class MissingFiles implements DatasetFiles {
  private final int size;

  MissingFiles(int size) {
    this.size = size;
  }

  @Override
  public long inode(long id) {
    return id;
  }

  @Override
  public @Nullable Item missing(long id) {
    return item(id, 0);
  }

  @Override
  public boolean isCached(Item item) {
    return false;
  }

  @Override
  public boolean maySwap() {
    return false;
  }

  @Override
  public long items(long id) {
    return 1;
  }

  @Override
  public Item item(long id, long extent) {
    return new Item(
        new ItemKey(id, extent), () -> OriginPath.ROOT, new Version(size, 1, id, ""), 0, size);
  }

  @Override
  public boolean isResident(Item item) {
    return false;
  }
}
