package io.holdfast.fs.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
final class PendingRepliesTest {
  private static final Attributes ATTRIBUTES =
      new Attributes(Attributes.REGULAR, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, "");

  /** For waits that end in vain. */
  private static final Duration SHORT = Duration.ofMillis(50);

  private final PendingReplies pendingReplies = new PendingReplies();

  @Test
  void awaitNone_nodeThatNobodyShows_returnsAtOnce() {
    pendingReplies.enter(2);
    pendingReplies.awaitNone(1);
    pendingReplies.leave(2);
    pendingReplies.awaitNone(2);
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

    assertThat(pendingReplies.lookup(filesystem, 1, new byte[] {'f'}, new Asker(0, 0, 0)).node())
        .isEqualTo(8);

    pendingReplies.awaitNone(7);
    pendingReplies.leave(8);
    pendingReplies.awaitNone(8);
    assertThat(pendingReplies.enterIfCurrent(filesystem, 7)).isFalse();
    pendingReplies.awaitNone(7);
    assertThat(pendingReplies.enterIfCurrent(filesystem, 8)).isTrue();
    pendingReplies.leave(8);
  }

  @Test
  void awaitNone_nodeShownTwice_waitsForBoth() throws InterruptedException {
    pendingReplies.enter(1);
    pendingReplies.enter(1);
    AtomicBoolean lastLeft = new AtomicBoolean();
    AtomicBoolean seen = new AtomicBoolean();
    CountDownLatch started = new CountDownLatch(1);
    Thread waiter =
        new Thread(
            () -> {
              started.countDown();
              pendingReplies.awaitNone(1);
              seen.set(lastLeft.get());
            });
    waiter.start();
    Await.latch(started);
    pendingReplies.leave(1);
    lastLeft.set(true);
    pendingReplies.leave(1);
    waiter.join();
    assertThat(seen).isTrue();
  }

  @Test
  void earlier_requestsBeforeAndSince_waitsForThoseBefore() throws InterruptedException {
    UnderWay.Begun before = pendingReplies.begin();
    AtomicBoolean replied = new AtomicBoolean();
    AtomicBoolean seen = new AtomicBoolean();
    CountDownLatch started = new CountDownLatch(1);
    Thread waiter =
        new Thread(
            () -> {
              started.countDown();
              seen.set(pendingReplies.earlier().await() && replied.get());
            });
    waiter.start();
    Await.latch(started);
    Await.until("it waits", () -> waiter.getState() == Thread.State.TIMED_WAITING);
    UnderWay.Begun since = pendingReplies.begin();
    replied.set(true);
    pendingReplies.replied(before);
    waiter.join();
    assertThat(seen).isTrue();
    pendingReplies.replied(since);
    assertThat(pendingReplies.earlier().await()).isTrue();
  }

  /** A store that hangs delays a request: a waiting caller learns that, and waits again. */
  @Test
  void earlier_requestThatIsNotAnswered_saysSo() {
    PendingReplies pending = new PendingReplies(SHORT);
    UnderWay.Begun begun = pending.begin();
    KernelView.Earlier earlier = pending.earlier();
    assertThat(earlier.await()).isFalse();
    pending.replied(begun);
    assertThat(earlier.await()).isTrue();
  }

  /** The reply that shows the node may itself wait for the caller: the wait ends all the same. */
  @Test
  void awaitNone_nodeThatIsNeverLeft_returnsInTheEnd() {
    PendingReplies pending = new PendingReplies(SHORT);
    pending.enter(1);
    assertThat(pending.awaitNone(1)).isFalse();
  }
}
