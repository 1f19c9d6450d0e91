package io.holdfast.fs.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The kernel is a queue; a request is what answers it, and an ended connection is the last one. */
final class RequestThreadsTest {
  private static final int FEW = 2;
  private static final int MOST = 8;

  private final LinkedBlockingQueue<Runnable> requests = new LinkedBlockingQueue<>();
  private final Runnable end =
      new Runnable() {
        @Override
        public void run() {
          throw new IllegalStateException("the end of the connection is no request");
        }
      };

  private final AtomicLong nanos = new AtomicLong();
  private final AtomicInteger open = new AtomicInteger();
  private final AtomicInteger refusals = new AtomicInteger();
  private final AtomicInteger endings = new AtomicInteger();
  private final Semaphore entered = new Semaphore(0);
  private final CountDownLatch leave = new CountDownLatch(1);
  private final Semaphore mayEnd = new Semaphore(1000);
  private final RequestThreads threads =
      new RequestThreads(
          this::receiver,
          () -> !requests.isEmpty(),
          FEW,
          MOST,
          endings::incrementAndGet,
          nanos::get);

  private RequestThreads.Receiver receiver() {
    if (refusals.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
      throw new OutOfMemoryError("as a test has it");
    }
    return new QueueReceiver();
  }

  private final class QueueReceiver implements RequestThreads.Receiver {
    private Runnable request = end;

    QueueReceiver() {
      open.incrementAndGet();
    }

    @Override
    public int receive() {
      try {
        request = requests.take();
      } catch (InterruptedException e) {
        return RequestThreads.NONE;
      }
      if (request == end) {
        requests.add(end); // the kernel tells each thread
        return RequestThreads.ENDED;
      }
      return Opcode.LOOKUP.code();
    }

    @Override
    public void answer() {
      request.run();
    }

    @Override
    public void close() {
      mayEnd.acquireUninterruptibly();
      open.decrementAndGet();
    }
  }

  private void askAndHold(int count) {
    for (int i = 0; i < count; i++) {
      requests.add(
          () -> {
            entered.release();
            Await.latch(leave);
          });
    }
  }

  private void awaitEntered(int count) {
    Await.until(count + " requests are being answered", () -> entered.tryAcquire(count));
  }

  private void askAndWait() {
    CountDownLatch answered = new CountDownLatch(1);
    requests.add(answered::countDown);
    Await.latch(answered);
  }

  @AfterEach
  void end() {
    leave.countDown();
    requests.add(end);
    Await.until("the threads ended", () -> threads.running() == 0);
    assertThat(open).as("receivers that are not closed").hasValue(0);
    assertThat(threads.isEnded()).isTrue();
    assertThat(endings.get()).isPositive();
  }

  /** The only thread ended, and nobody received the next request. */
  @Test
  void answerThatFindsTheHeapFull_keepsItsThread() {
    threads.start();
    askAndWait();
    refusals.set(1);
    requests.add(
        () -> {
          throw new OutOfMemoryError("as a test has it");
        });
    askAndWait();
  }

  @Test
  void requestsThatWait_keepNoOtherWaiting() {
    threads.start();
    askAndHold(MOST - 1);
    awaitEntered(MOST - 1);
    askAndWait();
    assertThat(threads.running()).isEqualTo(MOST);
    assertThat(threads.counts()).isEqualTo(Map.of("LOOKUP", (long) MOST));
  }

  /** The kernel wakes idle threads in turn, which takes longer than an answer. */
  @Test
  void requestsThatTakeNoTime_needFewThreads() {
    threads.start();
    askAndHold(FEW - 1);
    awaitEntered(FEW - 1);
    for (int i = 0; i < 1000; i++) {
      askAndWait();
    }
    assertThat(threads.running()).isEqualTo(FEW);
  }

  @Test
  void threadsThatAreBusyForLong_leaveAnIdleOneToTheNextRequest() {
    threads.start();
    askAndHold(FEW);
    awaitEntered(FEW);
    Await.until("one more", () -> threads.running() == FEW + 1);
  }

  @Test
  void moreRequestsThanThreads_waitForOneOfThem() {
    threads.start();
    askAndHold(3 * MOST);
    awaitEntered(MOST);
    assertThat(threads.running()).isEqualTo(MOST);
    assertThat(requests).hasSize(2 * MOST);
    leave.countDown();
    awaitEntered(2 * MOST);
    assertThat(threads.running()).isLessThanOrEqualTo(MOST);
  }

  @Test
  void busy_tellsWhereRequestsAre_thatAreBeingAnswered() {
    threads.start();
    askAndHold(2);
    awaitEntered(2);
    assertThat(RequestThreads.busy())
        .containsPattern("threads are answering requests: .*fuse-\\d+: .*RequestThreadsTest.java:");
    leave.countDown();
  }

  @Test
  void idleThreads_endOnceNoneWasNeededForAWhile() {
    threads.start();
    askAndHold(MOST);
    awaitEntered(MOST);
    nanos.addAndGet(Duration.ofMinutes(1).toNanos());
    leave.countDown();
    Await.until("the others have ended", () -> threads.running() == FEW);
  }

  /** A thread that is slow to end, on a busy machine, is idle for nobody. */
  @Test
  void threadsThatEndSlowly_leaveEnoughThatReceive() {
    threads.start();
    askAndHold(MOST);
    awaitEntered(MOST);
    nanos.addAndGet(Duration.ofMinutes(1).toNanos());
    mayEnd.drainPermits();
    leave.countDown();
    for (int i = 0; i < 10 * MOST; i++) {
      askAndWait();
    }
    mayEnd.release(MOST);
  }

  /** A thread that could not answer takes no request; another thread is tried for the next one. */
  @Test
  void threadWithoutMemory_takesNoRequest() {
    threads.start();
    askAndWait();
    Await.until("a second thread receives", () -> open.get() == 2);
    refusals.set(1);
    askAndHold(3);
    awaitEntered(3);
    assertThat(refusals).as("threads that were refused").hasValue(0);
  }
}
