package io.holdfast.fs.residency;

import io.holdfast.fs.transit.Loan;

/**
 * A part of a pinned item, lent: the item is unpinned only after it was given back. Thread-safe.
 *
 * @param resident entered
 * @param address of the part
 * @param length bytes of the part
 */
record ResidentLoan(Resident resident, long address, int length) implements Loan {
  @Override
  public int checksum() {
    return length == resident.item().length()
        ? resident.checksum()
        : Loan.checksum(address, length);
  }

  @Override
  public void release() {
    resident.leave();
  }
}
