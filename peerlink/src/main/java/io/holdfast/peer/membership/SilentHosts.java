package io.holdfast.peer.membership;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps hosts that do not answer from holding up messages to all others. JGroups connects on the
 * one thread that sends everything, heartbeats included. A few hosts that were switched off, or
 * that hung, held the heartbeats up for longer than nodes may be silent, and nodes that were well
 * excluded each other.
 *
 * <p>That thread waits for one host that does not answer, and for no other host in the next {@link
 * #CALM}. Connections to a host that did not answer fail at once, until a thread of this class has
 * reached it. JGroups sends again what must arrive.
 *
 * <p>Thread-safe; the monitor guards the hosts.
 */
final class SilentHosts implements AutoCloseable {
  /** A connection that fails earlier has cost nothing. */
  static final Duration SLOW = Duration.ofMillis(250);

  /** How long nobody waits for a host after a wait in vain. */
  static final Duration CALM = Duration.ofSeconds(10);

  /** How long a host is tried on that nobody wants to reach any more. */
  private static final Duration WANTED = Duration.ofMinutes(1);

  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(8);
  private static final Duration LONGEST_END = Duration.ofSeconds(1);
  private static final int MOST_THREADS = 64;

  private final Supplier<? extends Socket> sockets;
  private final Duration longestConnect;
  private final LongSupplier nanoTime;
  private final Map<SocketAddress, Host> hosts = new HashMap<>();
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final ThreadPoolExecutor threads =
      new ThreadPoolExecutor(
          0,
          MOST_THREADS,
          1,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          new DaemonThreads("membership-silent"));

  private volatile boolean closed;

  /** When a wait was in vain for the last time. */
  private @Nullable Long lastVain;

  /** A host that is tried, or has been reached. */
  private static final class Host {
    private long wanted;
    private @Nullable Long reached;
  }

  /**
   * Creates it without hosts.
   *
   * @param sockets makes the sockets by which hosts are tried; each authenticates while it connects
   * @param longestConnect the time for a host to accept a connection
   */
  SilentHosts(Supplier<? extends Socket> sockets, Duration longestConnect, LongSupplier nanoTime) {
    this.sockets = sockets;
    this.longestConnect = longestConnect;
    this.nanoTime = nanoTime;
  }

  /** Connects, by a call of the thread that must not wait. */
  @FunctionalInterface
  interface Connecting {
    void connect() throws IOException;
  }

  /**
   * Connects to a host, unless it does not answer.
   *
   * @throws SocketTimeoutException at once where the host is silent, or may be
   */
  void connect(SocketAddress to, Connecting call) throws IOException {
    if (mayBeSilent(to)) {
      throw new SocketTimeoutException(to + " has not answered, and is tried again meanwhile");
    }
    long began = nanoTime.getAsLong();
    boolean connected = false;
    try {
      call.connect();
      connected = true;
    } finally {
      if (!connected && isSlow(began)) {
        inVain(to);
      }
    }
  }

  private boolean isSlow(long began) {
    return nanoTime.getAsLong() - began >= SLOW.toNanos();
  }

  private synchronized boolean mayBeSilent(SocketAddress to) {
    long now = nanoTime.getAsLong();
    hosts.values().removeIf(each -> each.reached != null && isOver(each.reached, CALM, now));
    Host host = hosts.get(to);
    if (host != null) {
      host.wanted = now;
      return host.reached == null;
    }
    if (lastVain == null || isOver(lastVain, CALM, now)) {
      return false;
    }
    attempt(to, now);
    return true;
  }

  private synchronized void inVain(SocketAddress to) {
    long now = nanoTime.getAsLong();
    lastVain = now;
    attempt(to, now);
  }

  private static boolean isOver(long since, Duration duration, long now) {
    return now - since > duration.toNanos();
  }

  /** Has a thread try a host until it answers. Without room for one more, the next call tries. */
  private void attempt(SocketAddress to, long now) {
    Host host = new Host();
    host.wanted = now;
    try {
      threads.execute(() -> tryOn(to, host));
      hosts.put(to, host);
    } catch (RejectedExecutionException e) {
      hosts.remove(to);
    }
  }

  private void tryOn(SocketAddress to, Host host) {
    Duration pause = FIRST_PAUSE;
    try {
      while (!answers(to) && !closed && isWanted(to, host)) {
        Thread.sleep(pause.toMillis());
        pause = pause.compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : LONGEST_PAUSE;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // this node leaves the cluster
    } finally {
      reached(host);
    }
  }

  private boolean answers(SocketAddress to) {
    long began = nanoTime.getAsLong();
    Socket socket = sockets.get();
    open.add(socket);
    try {
      if (closed) {
        return false; // close() may have missed this socket
      }
      socket.connect(to, Math.toIntExact(longestConnect.toMillis()));
      return true;
    } catch (IOException e) {
      return !isSlow(began);
    } finally {
      open.remove(socket);
      ProvenSocket.closeQuietly(socket);
    }
  }

  private synchronized boolean isWanted(SocketAddress to, Host host) {
    if (isOver(host.wanted, WANTED, nanoTime.getAsLong())) {
      hosts.remove(to, host);
      return false;
    }
    return true;
  }

  private synchronized void reached(Host host) {
    host.reached = nanoTime.getAsLong();
  }

  /** Ends all attempts, and waits a moment for their threads. */
  @Override
  public void close() {
    closed = true;
    threads.shutdownNow();
    open.forEach(ProvenSocket::closeQuietly);
    try {
      boolean unused = threads.awaitTermination(LONGEST_END.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
