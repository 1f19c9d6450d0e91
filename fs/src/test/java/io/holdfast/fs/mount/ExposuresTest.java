package io.holdfast.fs.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
final class ExposuresTest {
  private static final Attributes ATTRIBUTES =
      new Attributes(Attributes.REGULAR, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, "");

  private final Exposures exposures = new Exposures();

  @Test
  void awaitNone_nodeThatNobodyShows_returnsAtOnce() {
    exposures.enter(2);
    exposures.awaitNone(1);
    exposures.leave(2);
    exposures.awaitNone(2);
  }

  /**
   * A node that lost its name between the lookup and its entering was shown all the same, for as
   * long as the kernel believed it: nobody had waited for that reply.
   */
  @Test
  void lookup_nodeReplacedBeforeItWasEntered_isDoneAgain() throws FsException {
    List<Long> lookedUp = new ArrayList<>(List.of(7L, 8L));
    Filesystem filesystem =
        (Filesystem)
            Proxy.newProxyInstance(
                Filesystem.class.getClassLoader(),
                new Class<?>[] {Filesystem.class},
                (proxy, method, arguments) ->
                    switch (method.getName()) {
                      case "lookup" -> new Filesystem.Entry(lookedUp.remove(0), ATTRIBUTES);
                      case "known" -> new Filesystem.Entry(8, ATTRIBUTES);
                      case "isCurrent" -> arguments[0].equals(8L);
                      default -> throw new AssertionError(method);
                    });

    assertThat(exposures.lookup(filesystem, 1, new byte[] {'f'}).node()).isEqualTo(8);

    exposures.awaitNone(7);
    exposures.leave(8);
    exposures.awaitNone(8);
    assertThat(exposures.enterIfCurrent(filesystem, 7)).isFalse();
    exposures.awaitNone(7);
    assertThat(exposures.enterIfCurrent(filesystem, 8)).isTrue();
    exposures.leave(8);
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

  @Test
  void awaitReplies_requestsBeforeAndSince_waitsForThoseBefore() throws InterruptedException {
    int before = exposures.begin();
    AtomicBoolean replied = new AtomicBoolean();
    AtomicBoolean seen = new AtomicBoolean();
    CountDownLatch started = new CountDownLatch(1);
    Thread waiter =
        new Thread(
            () -> {
              started.countDown();
              seen.set(exposures.awaitReplies() && replied.get());
            });
    waiter.start();
    Await.latch(started);
    Await.until("it waits", () -> waiter.getState() == Thread.State.TIMED_WAITING);
    int since = exposures.begin();
    replied.set(true);
    exposures.replied(before);
    waiter.join();
    assertThat(seen).isTrue();
    exposures.replied(since);
    assertThat(exposures.awaitReplies()).isTrue();
  }

  /** A store that hangs keeps a request: whoever waits learns so, and waits again. */
  @Test
  void awaitReplies_requestThatIsNotAnswered_saysSo() {
    int begun = exposures.begin();
    assertThat(exposures.awaitReplies()).isFalse();
    exposures.replied(begun);
    assertThat(exposures.awaitReplies()).isTrue();
  }

  /** Whoever shows the node may wait for the caller: the wait ends all the same. */
  @Test
  void awaitNone_nodeThatIsNeverLeft_returnsInTheEnd() {
    exposures.enter(1);
    exposures.awaitNone(1);
  }
}
