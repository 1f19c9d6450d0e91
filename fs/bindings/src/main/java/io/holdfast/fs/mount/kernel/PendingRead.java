package io.holdfast.fs.mount.kernel;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.mount.Errnos;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * A READ that is answered once: with its bytes, or with an error, such as that it was interrupted.
 * Thread-safe.
 */
final class PendingRead implements ReadReply {
  private final Channel channel;
  private final Long key;
  private final long request;
  private final Caller caller;
  private final Consumer<PendingRead> ended;
  private final AtomicBoolean answered = new AtomicBoolean();

  /**
   * Creates a READ that is not answered yet.
   *
   * @param request in memory that has room for the answer, too: where the answer is made, the heap
   *     may be full
   * @param ended takes this READ after the answer
   */
  PendingRead(Channel channel, long unique, long request, Consumer<PendingRead> ended) {
    this.channel = channel;
    this.key = unique;
    this.request = request;
    this.caller = Caller.of(request);
    this.ended = ended;
  }

  /** Returns the kernel's number of the request. */
  Long key() {
    return key;
  }

  long request() {
    return request;
  }

  Caller caller() {
    return caller;
  }

  @Override
  public void data(CheckedBytes bytes) {
    if (answered.compareAndSet(false, true)) {
      reply(0, bytes.address(), bytes.length());
    }
  }

  @Override
  public void failed(FsException cause) {
    fail(Errnos.negative(cause.code()));
  }

  /** Answers with a negative errno, unless it has been answered. */
  void fail(int errno) {
    if (answered.compareAndSet(false, true)) {
      reply(errno, 0, 0);
    }
  }

  private void reply(int errno, long address, int length) {
    channel.reply(InFlight.answerOf(request), key, errno, address, length);
    ended.accept(this);
  }
}
