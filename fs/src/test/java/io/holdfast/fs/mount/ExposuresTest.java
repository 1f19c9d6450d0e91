package io.holdfast.fs.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
final class ExposuresTest {
  private final Exposures exposures = new Exposures();

  @Test
  void awaitNone_nodeThatNobodyShows_returnsAtOnce() {
    exposures.enter(2);
    exposures.awaitNone(1);
    exposures.leave(2);
    exposures.awaitNone(2);
  }

  @Test
  void awaitNone_nodeShownTwice_waitsForBoth() throws InterruptedException {
    exposures.enter(1);
    exposures.enter(1);
    AtomicBoolean lastLeft = new AtomicBoolean();
    AtomicBoolean seen = new AtomicBoolean();
    CountDownLatch started = new CountDownLatch(1);
    Thread waiter =
        new Thread(
            () -> {
              started.countDown();
              exposures.awaitNone(1);
              seen.set(lastLeft.get());
            });
    waiter.start();
    Await.latch(started);
    exposures.leave(1);
    lastLeft.set(true);
    exposures.leave(1);
    waiter.join();
    assertThat(seen).isTrue();
  }

  /** Whoever shows the node may wait for the caller: the wait ends all the same. */
  @Test
  void awaitNone_nodeThatIsNeverLeft_returnsInTheEnd() {
    exposures.enter(1);
    exposures.awaitNone(1);
  }
}
