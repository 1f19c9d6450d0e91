package io.holdfast.fs.mount.kernel;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.mount.Errnos;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A READ that is answered once: with its bytes, or with an error, such as that it was interrupted.
 * Thread-safe.
 */
final class PendingRead implements ReadReply {
  private final Channel channel;
  private final long unique;
  private final Caller caller;
  private final long memory;
  private final Runnable ended;
  private final AtomicBoolean answered = new AtomicBoolean();

  /**
   * Creates a READ that is not answered yet.
   *
   * @param caller the thread that waits for the answer
   * @param memory for the answer, which is made where the heap may be full
   * @param ended called after the answer
   */
  PendingRead(Channel channel, long unique, Caller caller, long memory, Runnable ended) {
    this.channel = channel;
    this.unique = unique;
    this.caller = caller;
    this.memory = memory;
    this.ended = ended;
  }

  Caller caller() {
    return caller;
  }

  @Override
  public void data(CheckedBytes bytes) {
    if (answered.compareAndSet(false, true)) {
      channel.reply(memory, unique, 0, bytes.address(), bytes.length());
      ended.run();
    }
  }

  @Override
  public void failed(FsException cause) {
    fail(Errnos.negative(cause.code()));
  }

  /** Answers with a negative errno, unless it has been answered. */
  void fail(int errno) {
    if (answered.compareAndSet(false, true)) {
      channel.reply(memory, unique, errno, 0, 0);
      ended.run();
    }
  }
}
