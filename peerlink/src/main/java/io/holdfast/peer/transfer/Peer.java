package io.holdfast.peer.transfer;

import io.holdfast.peer.NodeAddress;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this node has to do with one peer as its client: a pool of kept connections, and the
 * requests that wait for one. Everything but {@link #ask} and {@link #close} belongs to one event
 * loop, and so needs no lock.
 */
// a write that fails ends its connection, and that is heard of
@SuppressWarnings("FutureReturnValueIgnored")
final class Peer {
  private static final Logger LOG = LoggerFactory.getLogger(Peer.class);
  private static final int MOST_CONNECTIONS = 32;

  private final NodeAddress address;
  private final ItemClient client;
  private final EventLoop loop;
  private final PeerHealth health;
  private final Set<ClientConnection> open = new HashSet<>();
  private final Deque<ClientConnection> idle = new ArrayDeque<>();
  private final Deque<Exchange> waiting = new ArrayDeque<>();
  private boolean closed;

  Peer(NodeAddress address, ItemClient client, EventLoop loop) {
    this.address = address;
    this.client = client;
    this.loop = loop;
    health = new PeerHealth(address, client.errors());
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

  PeerHealth health() {
    return health;
  }

  /** Asks, unless the peer is being left alone. Any thread. */
  void ask(Exchange exchange) {
    if (!health.mayAsk()) {
      exchange.outcome.complete(Outcome.SUSPECT);
      return;
    }
    try {
      loop.execute(() -> assign(exchange));
    } catch (RejectedExecutionException e) {
      health.notAsked();
      exchange.outcome.complete(Outcome.fault("this node is closing"));
    }
  }

  private void assign(Exchange exchange) {
    if (closed) {
      drop(exchange);
      return;
    }
    ClientConnection kept = exchange.again ? null : idle.pollLast();
    if (kept != null) {
      kept.send(exchange);
    } else if (open.size() < MOST_CONNECTIONS) {
      ClientConnection connection = new ClientConnection(this, exchange);
      open.add(connection);
      connection.connect();
    } else {
      await(exchange);
    }
  }

  private void await(Exchange exchange) {
    exchange.waiting = true;
    waiting.add(exchange);
    Duration longest = client.deadlines().progress();
    loop.schedule(() -> giveUp(exchange), longest.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** All connections were in use for too long: the peer is busy rather than unwell. */
  private void giveUp(Exchange exchange) {
    if (exchange.waiting) {
      waiting.remove(exchange);
      exchange.waiting = false;
      health.notAsked();
      exchange.outcome.complete(Outcome.refused(Refusal.BUSY));
    }
  }

  /** A connection can take the next request. */
  void free(ClientConnection connection) {
    Exchange next = waiting.poll();
    if (next == null) {
      idle.addLast(connection);
    } else {
      next.waiting = false;
      connection.send(next);
    }
  }

  /** A connection is of no more use. */
  void gone(ClientConnection connection) {
    open.remove(connection);
    idle.remove(connection);
    if (!waiting.isEmpty() && open.size() < MOST_CONNECTIONS) {
      Exchange next = waiting.remove();
      next.waiting = false;
      assign(next);
    }
  }

  /** A kept connection had been closed by the peer: asks once more, on a new one. */
  void again(Exchange exchange) {
    exchange.again = true;
    assign(exchange);
  }

  void finish(Exchange exchange, Outcome outcome) {
    if (outcome.isFetched() && exchange.isFetch()) {
      health.received(exchange.request.length(), System.nanoTime() - exchange.began);
    } else {
      health.well();
    }
    exchange.outcome.complete(outcome);
  }

  /** Something is wrong with the peer or the way to it: nothing that waits is asked. */
  void fault(Exchange exchange, String detail) {
    if (closed) {
      drop(exchange);
      return;
    }
    LOG.debug("peer {}: {}", address, detail);
    health.fault(detail);
    for (Exchange each : List.copyOf(waiting)) {
      waiting.remove(each);
      each.waiting = false;
      each.outcome.complete(Outcome.SUSPECT);
    }
    List.copyOf(idle).forEach(ClientConnection::close);
    exchange.outcome.complete(Outcome.fault(detail));
  }

  private void drop(Exchange exchange) {
    health.notAsked();
    exchange.outcome.complete(Outcome.fault(address + " is no peer any more"));
  }

  /** Forgets the peer: closes its connections and ends what is under way. Any thread. */
  void close() {
    try {
      loop.execute(this::closeOnLoop);
    } catch (RejectedExecutionException e) {
      LOG.trace("closed before", e);
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
  }
}
