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
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Listens, and hands out only connections that have proven themselves. JGroups accepts in a single
 * thread and waits there for the handshake, so that one idle connection would keep all others out;
 * here each has its own thread for as long as it may take. Thread-safe.
 *
 * <p>Strangers cannot take more than a bounded number of threads and descriptors: when too many
 * connections have not proven themselves yet, the oldest of them is closed. A peer needs some
 * milliseconds and so gets through between any number of idle ones.
 */
final class ProvenServerSocket extends ServerSocket {
  /** Connections that have not proven themselves yet. */
  static final int MOST_UNPROVEN = 128;

  private static final int BACKLOG = 512;
  private static final int IDLE_SECONDS = 10;

  private final MutualTls tls;
  private final Refusals refusals;
  private final BlockingQueue<Socket> proven = new LinkedBlockingQueue<>();
  private final ThreadPoolExecutor handshakes;

  /** Oldest first; its own lock. */
  private final Deque<Socket> unproven = new ArrayDeque<>();

  /** Makes one that is not bound yet. */
  ProvenServerSocket(MutualTls tls, Refusals refusals) throws IOException {
    this.tls = tls;
    this.refusals = refusals;
    handshakes =
        new ThreadPoolExecutor(
            MOST_UNPROVEN,
            MOST_UNPROVEN,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            new DaemonThreads("membership-handshake"));
    handshakes.allowCoreThreadTimeOut(true);
  }

  /** Binds; JGroups does so again, which then changes nothing. */
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
        admit(super.accept());
      } catch (IOException e) {
        if (!isClosed()) {
          refusals.add("nobody yet", "cannot accept: " + e.getMessage());
          pause();
        }
      }
    }
  }

  /** Out of descriptors, most likely: trying again at once would change nothing. */
  private static void pause() {
    try {
      Thread.sleep(100);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void admit(Socket raw) {
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
      // closed in the meantime
      ProvenSocket.closeQuietly(raw);
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
    } catch (IOException | RuntimeException e) {
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

  /** Waits for a connection that has proven itself. */
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
