package io.holdfast.fs.mount.jnr;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Errnos;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import jnr.constants.platform.Errno;

/**
 * A reply that a thread of libfuse waits for, because libfuse 2 takes the answer when the callback
 * returns. The thread that has the bytes copies them to libfuse's buffer and wakes the waiting
 * thread. Transit bounds the wait: it answers every read by its deadline. A reader that got a
 * signal does not wait for that. Bytes that come for it later are not copied, because the buffer is
 * libfuse's again.
 */
final class BlockingReply implements ReadReply {
  private static final int PENDING = Integer.MIN_VALUE;
  private static final int COPYING = Integer.MIN_VALUE + 1;

  private final long buffer;
  private final long size;
  private final Thread reader = Thread.currentThread();
  private final AtomicInteger result = new AtomicInteger(PENDING);

  /**
   * Creates one.
   *
   * @param buffer libfuse's
   * @param size bytes that the buffer has room for
   */
  BlockingReply(long buffer, long size) {
    this.buffer = buffer;
    this.size = size;
  }

  @Override
  public void data(CheckedBytes bytes) {
    if (bytes.length() > size) {
      finish(PENDING, -Errno.EIO.intValue());
    } else if (result.compareAndSet(PENDING, COPYING)) {
      if (bytes.length() > 0) {
        Memory.copy(bytes.address(), buffer, bytes.length());
      }
      finish(COPYING, bytes.length());
    }
  }

  @Override
  public void failed(FsException cause) {
    finish(PENDING, Errnos.negative(cause.code()));
  }

  /** Frees the reader, unless its bytes are being copied. */
  void interrupted() {
    finish(PENDING, -Errno.EINTR.intValue());
  }

  private void finish(int before, int outcome) {
    if (result.compareAndSet(before, outcome) && Thread.currentThread() != reader) {
      LockSupport.unpark(reader);
    }
  }

  /** Waits for the answer; returns the number of bytes that were copied, or a negative errno. */
  int await() {
    while (result.get() <= COPYING) {
      LockSupport.park(this);
    }
    return result.get();
  }
}
