package io.holdfast.fs.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
final class UnderWayTest {
  private final UnderWay things = new UnderWay();
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void end() {
    Await.end(threads);
  }

  @Test
  void awaitEarlier_nothing_returnsAtOnce() {
    assertThat(things.awaitEarlier()).isTrue();
    things.end(things.begin());
    assertThat(things.awaitEarlier()).isTrue();
  }

  /** Each has to wait for what began before it, also while another waits already. */
  @Test
  void awaitEarlier_ofSeveralAtOnce_eachWaitsForWhatBeganBefore() throws Exception {
    int first = things.begin();
    AtomicBoolean firstEnded = new AtomicBoolean();
    AtomicBoolean secondEnded = new AtomicBoolean();
    FutureTask<Boolean> waiter = new FutureTask<>(() -> things.awaitEarlier() && firstEnded.get());
    Thread thread = new Thread(waiter);
    thread.start();
    Await.until("it waits", () -> thread.getState() == Thread.State.TIMED_WAITING);
    int second = things.begin();
    List<Future<Boolean>> others = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      others.add(threads.submit(() -> things.awaitEarlier() && secondEnded.get()));
    }
    firstEnded.set(true);
    things.end(first);
    assertThat(waiter.get()).isTrue();
    secondEnded.set(true);
    things.end(second);
    for (Future<Boolean> other : others) {
      assertThat(other.get()).isTrue();
    }
  }
}
