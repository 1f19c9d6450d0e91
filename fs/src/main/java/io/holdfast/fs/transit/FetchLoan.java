package io.holdfast.fs.transit;

import io.holdfast.fs.CheckedBytes;

/**
 * Bytes of a fetch that stay until they are given back. Thread-safe.
 *
 * @param fetch has a use of its memory that ends with this
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
