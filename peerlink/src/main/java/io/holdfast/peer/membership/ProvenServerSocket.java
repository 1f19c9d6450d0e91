package io.holdfast.peer.membership;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Listens, and hands out only authenticated connections. JGroups accepts connections on a single
 * thread and would wait there for the handshake, so one idle connection would keep all others out.
 * Here each handshake has a thread of its own, for a bounded time. Thread-safe.
 *
 * <p>Strangers can take only a bounded number of threads and descriptors: when too many connections
 * are unauthenticated, the oldest of them is closed. A peer needs some milliseconds for its
 * handshake, and so gets through between any number of idle connections.
 */
final class ProvenServerSocket extends ServerSocket {
  /** Most unauthenticated connections. */
  static final int MOST_UNPROVEN = 128;

  private static final int BACKLOG = 512;
  private static final int IDLE_SECONDS = 10;

  private final MutualTls tls;
  private final RejectedConnections refusals;
  private final BlockingQueue<Socket> proven = new LinkedBlockingQueue<>();
  private final ThreadPoolExecutor handshakes;

  /** The unauthenticated connections, oldest first; guarded by its own monitor. */
  private final Deque<Socket> unproven = new ArrayDeque<>();

  /** Creates a socket that is not bound yet. */
  ProvenServerSocket(MutualTls tls, RejectedConnections refusals) throws IOException {
    this(tls, refusals, new DaemonThreads("membership-handshake"));
  }

  /**
   * Creates a socket that is not bound yet.
   *
   * @param threads makes the threads of handshakes
   */
  ProvenServerSocket(MutualTls tls, RejectedConnections refusals, ThreadFactory threads)
      throws IOException {
    this.tls = tls;
    this.refusals = refusals;
    handshakes =
        new ThreadPoolExecutor(
            MOST_UNPROVEN,
            MOST_UNPROVEN,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            threads);
    handshakes.allowCoreThreadTimeOut(true);
  }

  /** Binds; the second call, by JGroups, changes nothing. */
  @Override
  public void bind(SocketAddress address, int backlog) throws IOException {
    if (!isBound()) {
      super.bind(address, BACKLOG);
      new DaemonThreads("membership-acceptor-" + getLocalPort()).newThread(this::listen).start();
    }
  }

  private void listen() {
    while (!isClosed()) {
      try {
        acceptNext();
      } catch (RuntimeException | OutOfMemoryError e) {
        // not told, which needs memory: no node could join any more without this thread
        pause();
      }
    }
  }

  private void acceptNext() {
    try {
      admit(super.accept());
    } catch (IOException e) {
      if (!isClosed()) {
        refusals.add("nobody yet", "cannot accept: " + e.getMessage());
        pause();
      }
    }
  }

  /**
   * Pauses before the next attempt. Descriptors, threads or memory have most likely run out, so an
   * attempt at once would fail, too.
   */
  private static void pause() {
    try {
      Thread.sleep(100);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void admit(Socket raw) throws IOException {
    Socket oldest = null;
    synchronized (unproven) {
      if (unproven.size() == MOST_UNPROVEN) {
        oldest = unproven.remove();
      }
      unproven.add(raw);
    }
    if (oldest != null) {
      ProvenSocket.closeQuietly(oldest);
    }
    try {
      handshakes.execute(() -> handshake(raw));
    } catch (RejectedExecutionException e) {
      // closed meanwhile
      ProvenSocket.closeQuietly(raw);
    } catch (OutOfMemoryError e) {
      leave(raw);
      ProvenSocket.closeQuietly(raw);
      throw new IOException("no thread for the handshake: " + e.getMessage(), e);
    }
  }

  private void handshake(Socket raw) {
    try {
      Socket top = tls.prove(raw, false);
      if (!leave(raw)) {
        throw new IOException("too many that have not proven themselves");
      }
      proven.add(new ProvenSocket(tls, refusals, raw, top));
      if (isClosed()) {
        ProvenSocket.closeQuietly(raw);
      }
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      leave(raw);
      ProvenSocket.closeQuietly(raw);
      if (!isClosed()) {
        refusals.add(String.valueOf(raw.getRemoteSocketAddress()), String.valueOf(e.getMessage()));
      }
    }
  }

  private boolean leave(Socket raw) {
    synchronized (unproven) {
      return unproven.remove(raw);
    }
  }

  /** Waits for an authenticated connection. */
  @Override
  public Socket accept() throws IOException {
    while (!isClosed()) {
      try {
        Socket next = proven.poll(IDLE_SECONDS, TimeUnit.SECONDS);
        if (next != null) {
          return next;
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new SocketException("interrupted");
      }
    }
    throw new SocketException("closed");
  }

  @Override
  public void close() throws IOException {
    super.close();
    handshakes.shutdown();
    synchronized (unproven) {
      unproven.forEach(ProvenSocket::closeQuietly);
    }
    for (Socket each = proven.poll(); each != null; each = proven.poll()) {
      ProvenSocket.closeQuietly(each);
    }
  }
}
