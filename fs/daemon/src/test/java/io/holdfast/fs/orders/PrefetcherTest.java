package io.holdfast.fs.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A prefetcher without an order, which uses no part of the daemon. */
final class PrefetcherTest {
  private final AtomicInteger looks = new AtomicInteger();

  /** One error used to end the thread: no file was fetched ahead until the next daemon. */
  private void goesOnAfter(Error fault) {
    Prefetcher prefetcher =
        new Prefetcher(
            null,
            List::of,
            () -> {
              if (looks.incrementAndGet() == 1) {
                throw fault;
              }
              return false;
            });
    prefetcher.start();
    Await.until(
        "it looks again",
        () -> {
          prefetcher.wake();
          return looks.get() >= 2;
        });
    assertThat(prefetcher.isRunning()).isTrue();
    prefetcher.close();
  }

  /** As when the heap has no room for the line of log either: no file was fetched ahead again. */
  @Test
  void thread_thatHasEnded_isStartedAgain() {
    AtomicInteger ends = new AtomicInteger();
    Prefetcher prefetcher =
        new Prefetcher(
            null,
            () -> {
              if (ends.incrementAndGet() <= 2) { // the look, and the pause after it
                throw new OutOfMemoryError("a test");
              }
              return List.of();
            },
            () -> false);
    prefetcher.start();
    Await.until("its thread has ended", () -> ends.get() == 2 && !prefetcher.isRunning());
    prefetcher.start();
    Await.until("it looks again", () -> ends.get() > 2);
    assertThat(prefetcher.isRunning()).isTrue();
    prefetcher.close();
  }

  @Test
  void learning_meetsTheBoundOfTheHeap_goesOn() {
    goesOnAfter(new OutOfMemoryError("a test"));
  }

  @Test
  void learning_failsWithAnotherError_goesOn() {
    goesOnAfter(new StackOverflowError("a test"));
  }
}
