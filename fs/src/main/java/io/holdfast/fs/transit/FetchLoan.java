package io.holdfast.fs.transit;

/**
 * Bytes of a fetch that stay until they are given back. Thread-safe.
 *
 * @param fetch has a use of its memory that ends with this
 */
record FetchLoan(Fetch fetch, long address, int length) implements Loan {
  @Override
  public int checksum() {
    return Loan.checksum(address, length);
  }

  @Override
  public void release() {
    fetch.release();
  }
}
