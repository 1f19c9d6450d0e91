package io.holdfast.fs.residency;

import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.Loan;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An item that was admitted. It is being pinned at first, then pinned, and unmapped after its
 * release as soon as nobody reads from its mapping. Thread-safe; the monitor guards the fields that
 * are not final, and is a leaf lock.
 */
final class Resident implements FileResidents {
  private final Item item;

  /** The policy's number of this resident; guarded by the lock of {@link ResidentSet}. */
  long handle;

  private long address;
  private int users;
  private boolean released;
  private byte @Nullable [] checksum;

  Resident(Item item) {
    this.item = item;
  }

  Item item() {
    return item;
  }

  boolean isOfExtent(Resident other) {
    return item.key().extent() == other.item.key().extent();
  }

  @Override
  public @Nullable Resident at(long extent) {
    return item.key().extent() == extent ? this : null;
  }

  @Override
  public List<Resident> all() {
    return List.of(this);
  }

  /**
   * Takes the mapping.
   *
   * @return false where the resident was released meanwhile; then the caller unmaps
   */
  synchronized boolean pinned(long mapping) {
    if (released) {
      return false;
    }
    address = mapping;
    return true;
  }

  /**
   * Returns the mapping's address and keeps the mapping until {@link #leave()}; returns 0 where
   * there is no mapping.
   */
  synchronized long enter() {
    if (released || address == 0) {
      return 0;
    }
    users++;
    return address;
  }

  /**
   * Returns the SHA-256 of the whole item; the first call computes it. Only between {@link
   * #enter()} and {@link #leave()}.
   */
  byte[] checksum() {
    long from;
    synchronized (this) {
      if (checksum != null) {
        return checksum;
      }
      from = address;
    }
    byte[] computed = Loan.checksum(from, item.length());
    synchronized (this) {
      checksum = computed;
    }
    return computed;
  }

  void leave() {
    long unmap;
    synchronized (this) {
      users--;
      unmap = takeUnused();
    }
    unmap(unmap);
  }

  /** Ends the residency; the last user's {@link #leave()} ends the mapping. */
  void release() {
    long unmap;
    synchronized (this) {
      released = true;
      unmap = takeUnused();
    }
    unmap(unmap);
  }

  /** Tells whether the resident was released, perhaps before it was pinned. */
  synchronized boolean isReleased() {
    return released;
  }

  synchronized boolean isPinned() {
    return address != 0 && !released;
  }

  /** Tells whether the mapping exists: the resident is pinned, or still being read. */
  synchronized boolean isMapped() {
    return address != 0;
  }

  private long takeUnused() {
    if (!released || users > 0) {
      return 0;
    }
    long mapping = address;
    address = 0;
    return mapping;
  }

  private void unmap(long mapping) {
    if (mapping != 0) {
      OwnMount.unmap(mapping, item.length());
    }
  }
}
