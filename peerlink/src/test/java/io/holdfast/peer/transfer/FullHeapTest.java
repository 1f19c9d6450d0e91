package io.holdfast.peer.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.peer.NodeAddress;
import io.netty.channel.DefaultEventLoop;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A full heap ends requests and connections; none waits for good, and no peer is blamed. */
final class FullHeapTest {
  private static final NodeAddress PEER = new NodeAddress("127.0.0.2", 9);

  private final Loop loop = new Loop();
  private final EventLoops loops = EventLoops.start();
  private final ItemClient client =
      new ItemClient(
          new Identity(new NodeAddress("127.0.0.1", 9), Nodes.DATASET, null, null),
          Nodes.PATIENT,
          loops,
          new RejectedRequests(System::nanoTime),
          new Resolver(NodeAddress::resolve));

  /** The test runs the tasks, and no timer runs out. */
  private static final class Loop extends DefaultEventLoop {
    private final Thread test = Thread.currentThread();
    private final List<Runnable> tasks = new ArrayList<>();
    private final List<Runnable> timers = new ArrayList<>();
    private boolean full;

    /** Leaves out the tasks of threads that look up names. */
    @Override
    public void execute(Runnable task) {
      if (Thread.currentThread().equals(test)) {
        tasks.add(task);
      }
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
      if (full) {
        throw new OutOfMemoryError("Java heap space");
      }
      timers.add(task);
      return new NoTimer(this);
    }

    /** Goes on after an error, as any event loop does. */
    void run(Runnable task) {
      try {
        task.run();
      } catch (OutOfMemoryError e) {
        assertThat(full).isTrue();
      }
    }
  }

  private static final class NoTimer extends DefaultPromise<Object>
      implements ScheduledFuture<Object> {
    NoTimer(EventExecutor loop) {
      super(loop);
    }

    @Override
    public long getDelay(TimeUnit unit) {
      return 1;
    }

    @Override
    public int compareTo(Delayed other) {
      return 0;
    }
  }

  @AfterEach
  void close() {
    client.close();
    loops.group().shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  private Exchange ask(Peer peer) {
    Exchange exchange = TextExchange.sketch(Nodes.DATASET);
    loop.tasks.clear();
    peer.ask(exchange);
    loop.run(loop.tasks.get(0));
    return exchange;
  }

  /** The request stayed without an outcome, and the reader without an answer. */
  @Test
  void await_noMemoryForItsTimer_endsTheRequest() {
    Peer peer = new Peer(PEER, client, loop);
    while (peer.health().figures().load().queued() == 0) {
      ask(peer);
    }
    loop.full = true;
    Exchange exchange = ask(peer);
    assertThat(exchange.outcome).isCompletedWithValue(TransferResult.fault("the heap is full"));
    assertThat(peer.health().figures().load().queued()).isEqualTo(1);
    assertThat(peer.health().figures().errors()).isZero();
  }

  @Test
  void connect_noMemory_isNoFaultOfThePeer() {
    Peer peer = new Peer(PEER, client, loop);
    loop.full = true;
    Exchange exchange = ask(peer);
    assertThat(exchange.outcome).isCompletedWithValue(TransferResult.fault("the heap is full"));
    assertThat(peer.health().figures().errors()).isZero();
    assertThat(peer.health().figures().suspect()).isFalse();
  }

  /** Each request that failed sent the next one: thousands overflowed the stack. */
  @Test
  void sendWaiting_noMemoryForAnyConnection_endsEachRequestInTurn() {
    Peer peer = new Peer(PEER, client, loop);
    Exchange first = ask(peer);
    while (peer.health().figures().load().queued() == 0) {
      ask(peer);
    }
    List<Exchange> waiting = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      waiting.add(ask(peer));
    }
    loop.full = true;
    peer.finish(first, TransferResult.FETCHED); // the peer may be asked once more
    assertThat(waiting).allMatch(each -> each.outcome.isDone());
    assertThat(peer.health().figures().load().queued()).isZero();
  }

  /** The connection had no timer any more, and its request waited for good. */
  @Test
  void alarm_noMemoryForTheNextTimer_ringsAtOnce() {
    List<String> rung = new ArrayList<>();
    Alarm alarm = new Alarm(loop, () -> rung.add("rung"));
    alarm.set(Duration.ofHours(1));
    alarm.set(Duration.ofHours(2));
    loop.full = true;
    loop.run(loop.timers.get(0));
    assertThat(rung).hasSize(1);
  }
}
