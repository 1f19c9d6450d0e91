package io.holdfast.peer.transfer;

import com.netflix.concurrency.limits.Limit;
import com.netflix.concurrency.limits.limit.AIMDLimit;
import io.holdfast.peer.NodeAddress;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This node's connections to one peer as its client: a pool of kept connections, and the queue of
 * requests. Everything but {@link #ask} and {@link #close} belongs to one event loop, and so needs
 * no lock.
 *
 * <p>The number of requests in flight follows from the answers: one more with each answer in time,
 * as long as more are needed; fewer when the peer is busy, answers late, or has a fault (additive
 * increase, multiplicative decrease). A peer takes longer for an item that it has to fetch than for
 * one that it holds, so an answer is late only after {@link Transfer.Deadlines#progress()}.
 */
// a failed write closes its connection, which reports it
@SuppressWarnings("FutureReturnValueIgnored")
final class Peer {
  private static final Logger LOG = LoggerFactory.getLogger(Peer.class);
  private static final int LEAST_ASKED = 4;
  private static final int FIRST_ASKED = 32;
  private static final int MOST_ASKED = 64;
  private static final double BACK_OFF = 0.7;

  /** So many refusals in a row that took long suspend requests to the peer. */
  private static final int MOST_SLOW_REFUSALS = 3;

  /** A suspect peer for which no request came in this time is tried again. */
  private static final Duration RETRY = Duration.ofSeconds(3);

  private static final TransferResult BUSY = TransferResult.refused(Refusal.BUSY);

  private final NodeAddress address;
  private final ItemClient client;
  private final EventLoop loop;
  private final PeerHealth health;
  private final KnownAddress knownAddress;
  private final Set<ClientConnection> open = new HashSet<>();
  private final List<ClientConnection> idle = new ArrayList<>();

  /** An ArrayDeque that finds no memory to grow loses its elements. */
  @SuppressWarnings("JdkObsolete")
  private final Deque<Exchange> waiting = new LinkedList<>();

  private final Limit limit;
  private final Alarm retry;

  /** A request came that was not sent because requests are suspended. Any thread sets it. */
  private volatile boolean wanted;

  /** The last answers that needed the peer's origin and were refusals that took long. */
  private int slowRefusals;

  private boolean sending;
  private boolean closed;

  Peer(NodeAddress address, ItemClient client, EventLoop loop) {
    this.address = address;
    this.client = client;
    this.loop = loop;
    health = new PeerHealth(address, client.errors());
    knownAddress = new KnownAddress(address, client.resolver(), client.deadlines().lookup());
    limit =
        AIMDLimit.newBuilder()
            .minLimit(LEAST_ASKED)
            .initialLimit(FIRST_ASKED)
            .maxLimit(MOST_ASKED)
            .backoffRatio(BACK_OFF)
            .timeout(client.deadlines().progress().toNanos(), TimeUnit.NANOSECONDS)
            .build();
    retry = new Alarm(loop, this::retry);
    tellLoad();
  }

  /** Returns the number of requests in flight. */
  private int asked() {
    return open.size() - idle.size();
  }

  private void tellLoad() {
    health.load(new PeerFigures.Load(limit.getLimit(), asked(), waiting.size()));
  }

  NodeAddress address() {
    return address;
  }

  ItemClient client() {
    return client;
  }

  EventLoop loop() {
    return loop;
  }

  KnownAddress knownAddress() {
    return knownAddress;
  }

  PeerHealth health() {
    return health;
  }

  /** Sends a request, unless the peer is suspect. Throws nothing. Any thread. */
  void ask(Exchange exchange) {
    if (health.mayAsk()) {
      begin(exchange);
    } else {
      wanted = true;
      exchange.outcome.complete(TransferResult.SUSPECT);
    }
  }

  private void begin(Exchange exchange) {
    try {
      loop.execute(
          () -> {
            if (exchange.begin()) {
              assign(exchange);
            }
          });
    } catch (RejectedExecutionException e) {
      notAsked(exchange, "this node is closing");
    } catch (OutOfMemoryError e) {
      notAsked(exchange, "no memory to ask it");
    }
  }

  private void notAsked(Exchange exchange, String why) {
    if (exchange.begin()) {
      health.notAsked();
      exchange.fail(why);
    }
  }

  private void assign(Exchange exchange) {
    if (closed) {
      drop(exchange);
      return;
    }
    if (asked() >= limit.getLimit()) {
      await(exchange);
    } else {
      send(exchange);
    }
    tellLoad();
  }

  private void send(Exchange exchange) {
    exchange.waiting = false;
    exchange.sent = System.nanoTime();
    if (!exchange.again && !idle.isEmpty()) {
      idle.remove(idle.size() - 1).send(exchange);
      return;
    }
    ClientConnection connection = newConnection(exchange);
    if (connection != null) {
      connection.connect();
    }
  }

  private @Nullable ClientConnection newConnection(Exchange exchange) {
    ClientConnection connection = null;
    try {
      connection = new ClientConnection(this, exchange);
      open.add(connection);
      return connection;
    } catch (OutOfMemoryError e) {
      open.remove(connection); // a set may add it, and then find no memory to grow
      noMemory(exchange);
      return null;
    }
  }

  /** Ends a request for which this node has no memory: the peer has no fault. */
  void noMemory(Exchange exchange) {
    health.notAsked();
    exchange.fail("the heap is full");
  }

  private void sendWaiting() {
    if (sending) {
      return; // a request that failed at once frees its place here; the loop below goes on
    }
    sending = true;
    try {
      while (!waiting.isEmpty() && asked() < limit.getLimit()) {
        send(waiting.remove());
      }
    } finally {
      sending = false;
    }
    tellLoad();
  }

  private void await(Exchange exchange) {
    Duration longest = client.deadlines().turn();
    try {
      loop.schedule(() -> giveUp(exchange), longest.toNanos(), TimeUnit.NANOSECONDS);
      waiting.add(exchange);
      exchange.waiting = true;
    } catch (OutOfMemoryError e) {
      noMemory(exchange);
    }
  }

  /** Ends a request that had no turn for too long: the peer is busy, not unwell. */
  private void giveUp(Exchange exchange) {
    if (exchange.waiting) {
      waiting.remove(exchange);
      exchange.waiting = false;
      try {
        health.notAsked();
        tellLoad();
      } finally {
        exchange.outcome.complete(BUSY);
      }
    }
  }

  /** Learns that a connection can take the next request. */
  void free(ClientConnection connection) {
    idle.add(connection);
    sendWaiting();
  }

  /** Learns that a connection is closed. */
  void gone(ClientConnection connection) {
    open.remove(connection);
    idle.remove(connection);
    sendWaiting();
  }

  /** Repeats a request once, on a new connection, because the peer had closed the kept one. */
  void again(Exchange exchange) {
    exchange.again = true;
    assign(exchange);
  }

  void finish(Exchange exchange, TransferResult outcome) {
    try {
      judge(exchange, outcome);
      learn(exchange, outcome.refusal() == Refusal.BUSY);
      sendWaiting();
    } finally {
      exchange.outcome.complete(outcome);
    }
  }

  /**
   * Reports an answer. A peer whose origin keeps askers waiting is left alone, although it answers:
   * their own origins may be faster. Answers that say nothing of its origin do not change that.
   */
  private void judge(Exchange exchange, TransferResult outcome) {
    Duration slow = client.deadlines().slowRefusal();
    boolean isSlow =
        outcome.refusal() == Refusal.ORIGIN_FAILED
            && System.nanoTime() - exchange.sent > slow.toNanos();
    if (isSlow) {
      slowRefusals++;
    } else if (outcome.isFetched() && exchange.itemBytes() >= 0) {
      slowRefusals = 0;
      health.received(exchange.itemBytes(), System.nanoTime() - exchange.began);
    } else if (exchange.mayNeedOrigin() && outcome.refusal() != Refusal.BUSY) {
      slowRefusals = 0;
    }
    if (slowRefusals < MOST_SLOW_REFUSALS) {
      health.well();
    } else if (isSlow) {
      health.suspend(
          "its origin is slow, each of %d refusals in a row took more than %d ms"
              .formatted(MOST_SLOW_REFUSALS, slow.toMillis()));
      endWaiting();
      retry.set(RETRY);
    } else {
      health.notAsked();
    }
  }

  /** Learns from a request that has just ended. */
  private void learn(Exchange exchange, boolean trouble) {
    limit.onSample(exchange.sent, System.nanoTime() - exchange.sent, asked() + 1, trouble);
  }

  /** Records a fault of the peer or of the network; ends the waiting requests. */
  void fault(Exchange exchange, String detail) {
    if (closed) {
      drop(exchange);
      return;
    }
    try {
      LOG.debug("peer {}: {}", address, detail);
      health.fault(detail);
      learn(exchange, true);
      endWaiting();
      List.copyOf(idle).forEach(ClientConnection::close);
      tellLoad();
      retry.set(RETRY);
    } finally {
      exchange.fail(detail);
    }
  }

  /** Ends the waiting requests, because requests to the peer are suspended. */
  private void endWaiting() {
    for (Exchange each : List.copyOf(waiting)) {
      waiting.remove(each);
      each.waiting = false;
      each.outcome.complete(TransferResult.SUSPECT);
    }
  }

  /**
   * Tries a suspect peer again if nobody wants anything of it: without a request, it would stay
   * suspect for good. How slow its origin was says nothing any more.
   */
  private void retry() {
    if (closed || !health.isSuspect()) {
      return;
    }
    retry.set(RETRY);
    if (wanted) {
      wanted = false;
      return;
    }
    Exchange sketch = TextExchange.sketch(client.identity().dataset());
    if (health.mayAsk()) {
      slowRefusals = Math.min(slowRefusals, MOST_SLOW_REFUSALS - 1);
      begin(sketch);
    }
  }

  private void drop(Exchange exchange) {
    health.notAsked();
    exchange.fail(address + " is no peer any more");
  }

  /** Forgets the peer: closes its connections and ends the requests in flight. Any thread. */
  void close() {
    try {
      loop.execute(this::closeOnLoop);
    } catch (RejectedExecutionException e) {
      LOG.trace("closed before", e);
    } catch (OutOfMemoryError e) {
      LOG.trace("its connections close when they are idle", e);
    }
  }

  private void closeOnLoop() {
    closed = true;
    for (Exchange each : List.copyOf(waiting)) {
      each.waiting = false;
      drop(each);
    }
    waiting.clear();
    List.copyOf(open).forEach(ClientConnection::close);
    retry.cancel();
  }
}
