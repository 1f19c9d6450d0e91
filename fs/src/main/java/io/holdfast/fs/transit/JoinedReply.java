package io.holdfast.fs.transit;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.NativeMemory;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Joins the answers of the parts of a read that crosses from one fetch to the next. Thread-safe;
 * the monitor guards the count.
 */
final class JoinedReply {
  private final ReadReply whole;
  private final int length;
  private final long buffer;

  /** Parts without an answer, and one more until all parts are known. */
  private int missing = 1;

  private @Nullable FsException failure;
  private ReadSource source = ReadSource.MEMORY;

  JoinedReply(ReadReply whole, int length) {
    this.whole = whole;
    this.length = length;
    this.buffer = NativeMemory.allocate(length);
    if (buffer == 0) {
      failure = new FsException(FsError.NO_MEMORY, "no memory to join a read of " + length);
    }
  }

  /** Returns where the answer of a part goes: its first byte within the whole read, and bytes. */
  synchronized ReadReply part(int offset, int count) {
    Objects.checkFromIndexSize(offset, count, length);
    missing++;
    return new ReadReply() {
      @Override
      public void data(CheckedBytes bytes) {
        if (bytes.length() != count) {
          arrived(new FsException(FsError.IO, bytes.length() + " bytes came for " + count));
          return;
        }
        if (buffer != 0) {
          Memory.copy(bytes.address(), buffer + offset, count);
        }
        arrived(null);
      }

      @Override
      public void waitedFor(ReadSource from) {
        slowest(from);
      }

      @Override
      public void failed(FsException cause) {
        arrived(cause);
      }
    };
  }

  private synchronized void slowest(ReadSource from) {
    if (from.compareTo(source) > 0) {
      source = from;
    }
  }

  /** Says that the last part was not asked for after all. */
  synchronized void withdraw() {
    missing--;
  }

  /** Says that there are no more parts. */
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
    try {
      if (failed != null) {
        throw failed;
      }
      CheckedBytes all = CheckedBytes.within(buffer, length, 0, length);
      if (from != ReadSource.MEMORY) {
        whole.waitedFor(from);
      }
      whole.data(all);
    } catch (FsException e) {
      whole.failed(e);
    }
    NativeMemory.free(buffer, length);
  }
}
