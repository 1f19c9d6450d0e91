package io.holdfast.fs.transit;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.NativeMemory;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Joins the answers of the parts of a read that crosses from one fetch to the next. Thread-safe;
 * the monitor guards the fields that are not final.
 */
final class JoinedReply {
  private final Borrower whole;
  private final int length;
  private final long buffer;

  /** Parts without an answer, plus one until all parts are known. */
  private int missing = 1;

  private @Nullable FsException failure;
  private ReadSource source = ReadSource.MEMORY;

  JoinedReply(Borrower whole, int length) {
    this.whole = whole;
    this.length = length;
    this.buffer = NativeMemory.allocate(length);
    if (buffer == 0) {
      failure = new FsException(FsError.NO_MEMORY, "no memory to join a read of " + length);
    }
  }

  /** Returns the borrower for a part of the read, by its offset within the read and its bytes. */
  synchronized Borrower part(int offset, int count) {
    Objects.checkFromIndexSize(offset, count, length);
    missing++;
    return new Part(offset, count);
  }

  /**
   * A part of the read. Only its first answer counts: with a full heap, a failure may follow it.
   */
  private final class Part implements Borrower {
    private final int offset;
    private final int count;

    /** Guarded by the reply's monitor. */
    private boolean answered;

    Part(int offset, int count) {
      this.offset = offset;
      this.count = count;
    }

    @Override
    public void lent(Loan loan) {
      boolean first = isFirstAnswer();
      FsException wrong = MissPath.FULL_HEAP;
      try {
        if (first) {
          wrong = copy(loan.bytes(), offset, count);
        }
      } finally {
        loan.release();
        if (first) {
          arrived(wrong);
        }
      }
    }

    @Override
    public void waitedFor(ReadSource from) {
      slowest(from);
    }

    @Override
    public void failed(FsException cause) {
      if (isFirstAnswer()) {
        arrived(cause);
      }
    }

    private boolean isFirstAnswer() {
      synchronized (JoinedReply.this) {
        boolean first = !answered;
        answered = true;
        return first;
      }
    }
  }

  private @Nullable FsException copy(CheckedBytes bytes, int offset, int count) {
    if (bytes.length() != count) {
      return new FsException(FsError.IO, bytes.length() + " bytes came for " + count);
    }
    if (buffer != 0) {
      Memory.copy(bytes.address(), buffer + offset, count);
    }
    return null;
  }

  private synchronized void slowest(ReadSource from) {
    if (from.compareTo(source) > 0) {
      source = from;
    }
  }

  /** Removes the part that was added last and not asked for after all. */
  synchronized void withdraw() {
    missing--;
  }

  /** Declares that there are no more parts. */
  void complete() {
    arrived(null);
  }

  private void arrived(@Nullable FsException cause) {
    FsException failed;
    ReadSource from;
    synchronized (this) {
      if (failure == null) {
        failure = cause;
      }
      if (--missing > 0) {
        return;
      }
      failed = failure;
      from = source;
    }
    answer(failed, from);
  }

  /** Answers the read, once. Whoever takes the loan frees the memory. */
  private void answer(@Nullable FsException failed, ReadSource from) {
    Loan joined = null;
    try {
      if (failed != null) {
        throw failed;
      }
      if (from != ReadSource.MEMORY) {
        whole.waitedFor(from);
      }
      joined = new Joined(buffer, CheckedBytes.within(buffer, length, 0, length));
      whole.lent(joined);
    } catch (FsException e) {
      NativeMemory.free(buffer, length);
      whole.failed(e);
    } catch (OutOfMemoryError e) {
      if (joined == null) {
        NativeMemory.free(buffer, length);
      }
      whole.failed(MissPath.FULL_HEAP);
      OutOfMemory.tell(e);
    }
  }

  /** All parts, in memory of their own. */
  private record Joined(long buffer, CheckedBytes bytes) implements Loan {
    @Override
    public byte[] checksum() {
      return Loan.checksum(bytes.address(), bytes.length());
    }

    @Override
    public void release() {
      NativeMemory.free(buffer, bytes.length());
    }
  }
}
