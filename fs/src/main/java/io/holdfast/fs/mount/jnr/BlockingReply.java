package io.holdfast.fs.mount.jnr;

import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Errnos;
import java.util.concurrent.locks.LockSupport;

/**
 * A reply that a thread of libfuse waits for, because libfuse 2 takes the answer as the callback's
 * return. Whoever has the bytes copies them to libfuse's buffer and wakes the thread. The wait is
 * bounded by whoever owes the answer: transit answers every read by its deadline.
 */
final class BlockingReply implements ReadReply {
  private static final int PENDING = Integer.MIN_VALUE;

  private final long buffer;
  private final Thread reader = Thread.currentThread();
  private volatile int result = PENDING;

  BlockingReply(long buffer) {
    this.buffer = buffer;
  }

  @Override
  public void data(long address, int length) {
    if (length > 0) {
      Memory.copy(address, buffer, length);
    }
    finish(length);
  }

  @Override
  public void failed(FsException cause) {
    finish(Errnos.negative(cause.code()));
  }

  private void finish(int outcome) {
    result = outcome;
    if (Thread.currentThread() != reader) {
      LockSupport.unpark(reader);
    }
  }

  /** Waits for the answer: the bytes that were copied, or a negative errno. */
  int await() {
    while (result == PENDING) {
      LockSupport.park(this);
    }
    return result;
  }
}
