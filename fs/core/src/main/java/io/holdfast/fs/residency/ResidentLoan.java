package io.holdfast.fs.residency;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.transit.Loan;

/**
 * A part of a pinned item, lent to a reader. The item stays pinned until the reader releases the
 * loan. Thread-safe.
 *
 * @param resident the resident; it was entered
 * @param bytes the part
 */
record ResidentLoan(Resident resident, CheckedBytes bytes) implements Loan {
  @Override
  public byte[] checksum() {
    return bytes.length() == resident.item().length()
        ? resident.checksum()
        : Loan.checksum(bytes.address(), bytes.length());
  }

  @Override
  public void release() {
    resident.leave();
  }
}
