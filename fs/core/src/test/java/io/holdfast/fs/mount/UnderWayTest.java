package io.holdfast.fs.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import java.time.Duration;
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
  /** For waits that end in vain. */
  private static final Duration SHORT = Duration.ofMillis(50);

  private final UnderWay things = new UnderWay();
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void end() {
    Await.end(threads);
  }

  @Test
  void await_nothing_returnsAtOnce() {
    assertThat(things.earlier().await()).isTrue();
    things.end(things.begin());
    assertThat(things.earlier().await()).isTrue();
  }

  /** Each further wait asked for what had begun since as well, so a steady flow had no end. */
  @Test
  void await_againWhileMoreBegins_endsWithWhatBeganBefore() {
    UnderWay tasks = new UnderWay(SHORT);
    UnderWay.Begun before = tasks.begin();
    KernelView.Earlier earlier = tasks.earlier();
    UnderWay.Begun since = tasks.begin();
    assertThat(earlier.await()).isFalse();
    UnderWay.Begun later = tasks.begin();
    tasks.end(before);

    assertThat(earlier.await()).isTrue();

    KernelView.Earlier all = tasks.earlier();
    tasks.end(since);
    tasks.end(later);
    assertThat(all.await()).isTrue();
  }

  @Test
  void await_waitMadeWhileEarlierOnesAreUnderWay_waitsForThemToo() {
    UnderWay tasks = new UnderWay(SHORT);
    UnderWay.Begun first = tasks.begin();
    KernelView.Earlier ofFirst = tasks.earlier();
    KernelView.Earlier ofBoth = tasks.earlier();
    UnderWay.Begun second = tasks.begin();
    tasks.end(second);
    assertThat(ofBoth.await()).isFalse();
    tasks.end(first);
    assertThat(ofFirst.await()).isTrue();
    assertThat(ofBoth.await()).isTrue();
  }

  /** Each has to wait for what began before it, also while another waits already. */
  @Test
  void await_ofSeveralAtOnce_eachWaitsForWhatBeganBefore() throws Exception {
    UnderWay.Begun first = things.begin();
    AtomicBoolean firstEnded = new AtomicBoolean();
    AtomicBoolean secondEnded = new AtomicBoolean();
    FutureTask<Boolean> waiter =
        new FutureTask<>(() -> things.earlier().await() && firstEnded.get());
    Thread thread = new Thread(waiter);
    thread.start();
    Await.until("it waits", () -> thread.getState() == Thread.State.TIMED_WAITING);
    UnderWay.Begun second = things.begin();
    List<Future<Boolean>> others = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      others.add(threads.submit(() -> things.earlier().await() && secondEnded.get()));
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
