package io.holdfast.fs.transit;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.ReadReply;

/** A reply that keeps the memory for a while, instead of copying out of it at once. */
public interface Borrower extends ReadReply {
  /**
   * Takes the bytes.
   *
   * @param loan valid until it is given back
   */
  void lent(Loan loan);

  /** Does nothing: a borrower is lent what it asked for. */
  @Override
  default void data(CheckedBytes bytes) {
    throw new IllegalStateException("a borrower is lent memory");
  }
}
