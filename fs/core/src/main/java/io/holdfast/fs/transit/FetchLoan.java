package io.holdfast.fs.transit;

import io.holdfast.fs.CheckedBytes;

/**
 * Bytes of a fetch, lent to a reader. Thread-safe.
 *
 * @param fetch has a use of its memory that ends with this loan
 */
record FetchLoan(Fetch fetch, CheckedBytes bytes) implements Loan {
  @Override
  public byte[] checksum() {
    return Loan.checksum(bytes.address(), bytes.length());
  }

  @Override
  public void release() {
    fetch.release();
  }
}
