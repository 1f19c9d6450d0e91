package io.holdfast.fs.daemon;

import io.holdfast.fs.Await;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
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
