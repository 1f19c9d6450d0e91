package io.holdfast.fs.mount.jnr;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.NativeBytes;
import io.holdfast.fs.linux.Memory;
import java.util.concurrent.CountDownLatch;
import java.util.function.ToIntFunction;
import jnr.constants.platform.Errno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
final class BlockingReplyTest {
  /** The number of a thread that has ended. */
  private static final int NO_THREAD = Integer.MAX_VALUE;

  private final long buffer = LIBC.malloc(16);
  private final long source = LIBC.malloc(16);

  @AfterEach
  void free() {
    LIBC.free(buffer);
    LIBC.free(source);
  }

  @Test
  void data_fromTheSameThread_isCopied() {
    BlockingReply reply = new BlockingReply(buffer, 16);
    Memory.putLong(source, 42);
    reply.data(NativeBytes.at(source, 8));
    Memory.putLong(source, 0);
    assertThat(reply.await()).isEqualTo(8);
    assertThat(Memory.getLong(buffer)).isEqualTo(42);
  }

  @Test
  void data_fromAnotherThread_wakesTheReader() {
    for (int i = 1; i <= 500; i++) {
      int value = i;
      BlockingReply reply = new BlockingReply(buffer, 16);
      Thread thread =
          new Thread(
              () -> {
                Memory.putLong(source, value);
                reply.data(NativeBytes.at(source, 8));
              });
      thread.start();
      assertThat(reply.await()).isEqualTo(8);
      assertThat(Memory.getLong(buffer)).isEqualTo(value);
    }
  }

  @Test
  void noData_atTheEnd_isZero() {
    BlockingReply reply = new BlockingReply(buffer, 16);
    reply.data(CheckedBytes.NOTHING);
    assertThat(reply.await()).isZero();
  }

  @Test
  void failure_isTheNegativeErrno() {
    BlockingReply reply = new BlockingReply(buffer, 16);
    reply.failed(new FsException(FsError.STALE, "changed"));
    assertThat(reply.await()).isEqualTo(-Errno.ESTALE.intValue());
  }

  /** A thread that waits for a reply. */
  private final class Reader {
    private final CountDownLatch created = new CountDownLatch(1);
    private final Thread thread;
    private volatile BlockingReply reply;
    private volatile int result;

    Reader(ToIntFunction<BlockingReply> wait) throws InterruptedException {
      thread =
          new Thread(
              () -> {
                reply = new BlockingReply(buffer, 16);
                created.countDown();
                result = wait.applyAsInt(reply);
              });
      thread.start();
      created.await();
    }

    int result() throws InterruptedException {
      thread.join();
      return result;
    }
  }

  @Test
  void interrupted_endsTheWait_andWhatComesLaterGoesNowhere() throws InterruptedException {
    WaitingReads waiting = new WaitingReads();
    Memory.putLong(buffer, 7);
    Reader reader = new Reader(reply -> waiting.await(12, NO_THREAD, reply, () -> {}));
    long request = LIBC.malloc(48);
    Memory.putLong(request + Request.HEADER_SIZE, 10);
    waiting.interrupt(request);
    Memory.putLong(request + Request.HEADER_SIZE, 12);
    while (reader.thread.isAlive()) {
      waiting.interrupt(request); // it may not wait yet
      Thread.onSpinWait();
    }
    LIBC.free(request);
    assertThat(reader.result()).isEqualTo(-Errno.EINTR.intValue());
    Memory.putLong(source, 42);
    reader.reply.data(NativeBytes.at(source, 8));
    assertThat(Memory.getLong(buffer)).isEqualTo(7);
  }

  /**
   * Another thread may have received the read, and not noted it yet; the kernel tells only once.
   */
  @Test
  void interrupted_beforeTheReadIsKnown_endsTheWait() throws InterruptedException {
    WaitingReads waiting = new WaitingReads();
    long request = LIBC.malloc(48);
    Memory.putLong(request + Request.HEADER_SIZE, 12);
    waiting.interrupt(request);
    LIBC.free(request);
    Reader reader = new Reader(reply -> waiting.await(12, NO_THREAD, reply, () -> {}));
    assertThat(reader.result()).isEqualTo(-Errno.EINTR.intValue());
  }

  /** As after a profiler's signal. */
  @Test
  void interrupted_readerGoesOn_waits() throws InterruptedException {
    WaitingReads waiting = new WaitingReads();
    int caller = (int) ProcessHandle.current().pid();
    Reader reader = new Reader(reply -> waiting.await(12, caller, reply, () -> {}));
    Await.until("it waits", () -> reader.thread.getState() == Thread.State.WAITING);
    long request = LIBC.malloc(48);
    Memory.putLong(request + Request.HEADER_SIZE, 12);
    waiting.interrupt(request);
    LIBC.free(request);
    assertThat(reader.thread.isAlive()).isTrue();
    reader.reply.data(NativeBytes.at(source, 5));
    assertThat(reader.result()).isEqualTo(5);
  }

  @Test
  void interruptOfTheThread_doesNotEndTheWait() throws InterruptedException {
    Reader reader = new Reader(BlockingReply::await);
    reader.thread.interrupt();
    reader.reply.data(NativeBytes.at(source, 5));
    assertThat(reader.result()).isEqualTo(5);
  }
}
