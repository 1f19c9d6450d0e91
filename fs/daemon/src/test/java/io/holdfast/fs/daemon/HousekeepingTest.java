package io.holdfast.fs.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The tasks of a daemon go on, whatever one run of them ended in. */
final class HousekeepingTest {
  /** A full heap, or a thread that could not be started, ended a task for ever. */
  @Test
  void task_failsForWantOfMemory_isDueAgain() {
    assertDueAgain(new OutOfMemoryError("as the virtual machine says it"));
  }

  /** Any error but a full heap ended a task of the daemon for ever, too. */
  @Test
  void task_failsWithAnError_isDueAgain() {
    assertDueAgain(new NoClassDefFoundError("made for the test"));
  }

  /** A second try that failed for want of memory was the last one: no open was counted any more. */
  @Test
  void tryThatFails_isFollowedByOthersUntilOneIsDone() {
    ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();
    AtomicInteger tries = new AtomicInteger();
    CountDownLatch later = new CountDownLatch(3);
    try {
      Housekeeping.until(
          executor,
          Duration.ofMillis(1),
          () -> {
            if (tries.incrementAndGet() == 1) {
              throw new OutOfMemoryError("made for the test");
            }
            return tries.get() == 3;
          });
      Await.until("it is done", () -> tries.get() == 3);
      Housekeeping.every(executor, Duration.ofMillis(1), later::countDown);
      Await.latch(later);
      assertThat(tries).hasValue(3);
    } finally {
      Await.end(executor);
    }
  }

  private static void assertDueAgain(Error failure) {
    ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();
    CountDownLatch runs = new CountDownLatch(3);
    try {
      Housekeeping.every(
          executor,
          Duration.ofMillis(1),
          () -> {
            runs.countDown();
            throw failure;
          });
      Await.latch(runs);
    } finally {
      Await.end(executor);
    }
  }
}
