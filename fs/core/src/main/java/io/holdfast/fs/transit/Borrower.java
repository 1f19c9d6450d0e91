package io.holdfast.fs.transit;

import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.ReadSource;

/**
 * Takes the answer to a read. Transit calls either {@link #lent} or {@link #failed}, once, from any
 * thread, at once or much later. An implementation returns quickly and throws nothing.
 */
public interface Borrower {
  /** Takes nothing: for fetches that nobody waits for. */
  Borrower NOBODY =
      new Borrower() {
        @Override
        public void lent(Loan loan) {
          loan.release();
        }

        @Override
        public void failed(FsException cause) {}
      };

  /**
   * Takes the bytes.
   *
   * @param loan valid until it is released
   */
  void lent(Loan loan);

  /** Learns, before {@link #lent}, from which source the read waited for its bytes. */
  default void waitedFor(ReadSource source) {}

  /** Learns that the read has failed. */
  void failed(FsException cause);

  /** Returns a borrower that passes the bytes to a reply and then releases them. */
  static Borrower passingOn(ReadReply reply) {
    return new Borrower() {
      @Override
      public void lent(Loan loan) {
        try {
          reply.data(loan.bytes());
        } finally {
          loan.release();
        }
      }

      @Override
      public void waitedFor(ReadSource source) {
        reply.waitedFor(source);
      }

      @Override
      public void failed(FsException cause) {
        reply.failed(cause);
      }
    };
  }
}
