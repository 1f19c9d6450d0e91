package io.holdfast.fs.transit;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.linux.Memory;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Joins the answers of the parts of a read that crosses from one fetch to the next. Thread-safe;
 * the monitor guards the fields that are not final.
 */
final class JoinedReply {
  private final Borrower whole;
  private final int length;
  private final TransitMemory.@Nullable Buffer buffer;

  /** Parts without an answer, plus one until all parts are known. */
  private int missing = 1;

  /** The part that was added last. */
  private @Nullable Part last;

  private @Nullable FsException failure;
  private ReadSource source = ReadSource.MEMORY;

  /**
   * Creates a reply with no parts.
   *
   * @param memory bounds the bytes of all such reads; where it is full, this read fails
   */
  JoinedReply(Borrower whole, int length, TransitMemory memory) {
    this.whole = whole;
    this.length = length;
    this.buffer = memory.take(length);
    if (buffer == null) {
      failure =
          new FsException(
              FsError.NO_MEMORY,
              "no memory to join %d bytes of several fetches: %d of %d bytes in use"
                  .formatted(length, memory.used(), memory.capacity()));
    }
  }

  /** Returns the borrower for a part of the read, by its offset within the read and its bytes. */
  synchronized Borrower part(int offset, int count) {
    Objects.checkFromIndexSize(offset, count, length);
    Part part = new Part(offset, count);
    last = part;
    missing++;
    return part;
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
      FsException wrong = OutOfMemory.FAILURE;
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
    if (buffer != null) {
      Memory.copy(bytes.address(), buffer.address() + offset, count);
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
    last = null;
  }

  /** Declares that there are no more parts. */
  void complete() {
    arrived(null);
  }

  /**
   * Declares that there are no more parts, because the read was broken off. The read fails when its
   * parts have their answers. Nobody knows whether the last part was asked for; it fails here.
   */
  void abandon(FsException cause) {
    Part unsure;
    synchronized (this) {
      unsure = last;
    }
    if (unsure != null) {
      unsure.failed(cause);
    }
    arrived(cause);
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

  /** Answers the read, once. The borrower that takes the loan frees the memory. */
  private void answer(@Nullable FsException failed, ReadSource from) {
    Loan joined = null;
    try {
      if (failed != null) {
        throw failed;
      }
      if (from != ReadSource.MEMORY) {
        whole.waitedFor(from);
      }
      TransitMemory.Buffer all = Objects.requireNonNull(buffer); // or the read has failed
      joined = new Joined(all, CheckedBytes.within(all.address(), length, 0, length));
      whole.lent(joined);
    } catch (FsException e) {
      free();
      whole.failed(e);
    } catch (OutOfMemoryError e) {
      if (joined == null) {
        free();
      }
      whole.failed(OutOfMemory.FAILURE);
      OutOfMemory.tell(e);
    }
  }

  private void free() {
    if (buffer != null) {
      buffer.free();
    }
  }

  /** All parts, in memory of their own. */
  private record Joined(TransitMemory.Buffer buffer, CheckedBytes bytes) implements Loan {
    @Override
    public byte[] checksum() {
      return Loan.checksum(bytes.address(), bytes.length());
    }

    @Override
    public void release() {
      buffer.free();
    }
  }
}
