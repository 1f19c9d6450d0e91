package io.holdfast.fs.transit;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.linux.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Joins the answers of the parts of a read that crosses from one item to the next. Thread-safe; the
 * monitor guards the count.
 */
final class JoinedReply {
  private final ReadReply whole;
  private final int length;
  private final long buffer;
  private int missing;
  private @Nullable FsException failure;

  JoinedReply(ReadReply whole, int length, int parts) {
    this.whole = whole;
    this.length = length;
    this.missing = parts;
    this.buffer = LIBC.malloc(length);
    if (buffer == 0) {
      failure = new FsException(FsError.NO_MEMORY, "no memory to join a read of " + length);
    }
  }

  /** Returns where the answer of the part at this offset of the whole read goes. */
  ReadReply part(int offset) {
    return new ReadReply() {
      @Override
      public void data(long address, int count) {
        if (buffer != 0) {
          Memory.copy(address, buffer + offset, count);
        }
        arrived(null);
      }

      @Override
      public void failed(FsException cause) {
        arrived(cause);
      }
    };
  }

  private void arrived(@Nullable FsException cause) {
    FsException failed;
    synchronized (this) {
      if (failure == null) {
        failure = cause;
      }
      if (--missing > 0) {
        return;
      }
      failed = failure;
    }
    if (failed == null) {
      whole.data(buffer, length);
    } else {
      whole.failed(failed);
    }
    LIBC.free(buffer);
  }
}
