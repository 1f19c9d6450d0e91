package io.holdfast.peer.membership;

import io.holdfast.peer.ClusterSecret;
import io.holdfast.peer.Credentials;
import io.holdfast.peer.PeerSetupException;
import io.holdfast.peer.TlsContext;
import io.holdfast.peer.TlsFiles;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/**
 * Proves to whoever is at the other end of a connection that this node belongs to the cluster, and
 * has that proven, before a byte of JGroups passes. Thread-safe.
 *
 * <p>The proof is TLS 1.3 in which both sides show a certificate: the node's own, from its files,
 * or else the one that is made from the {@linkplain SecretIdentity secret}. Nothing of our own
 * making is needed for fresh nonces, encryption, or protection from replay, and the standard
 * protocols of JGroups for that (AUTH, SYM_ENCRYPT) leave parts of what is sent open: they look at
 * messages, after anyone has been let in to talk to the transport.
 *
 * <p>Where a cluster has both, a connection with the secret's certificate runs inside of the one
 * with the nodes' certificates. One who has only a certificate can carry the inner connection, but
 * not read it, change it or end it, so both proofs hold for the two ends.
 *
 * <p>The host that a certificate is for is not checked here: JGroups deals in IP addresses, and the
 * authority signs for nothing but nodes. The data plane does check it.
 */
final class MutualTls implements AutoCloseable {
  private static final String[] PROTOCOLS = {"TLSv1.3"};

  private final List<SSLContext> layers;
  private final long longestMillis;
  private final ScheduledThreadPoolExecutor timer;

  private MutualTls(List<SSLContext> layers, Duration longest) {
    this.layers = layers;
    longestMillis = longest.toMillis();
    timer = new ScheduledThreadPoolExecutor(1, new DaemonThreads("membership-timer"));
    timer.setRemoveOnCancelPolicy(true);
  }

  /**
   * Prepares the proof.
   *
   * @param host that this node's certificate must be for
   * @param longest that a handshake may take
   */
  static MutualTls of(Credentials credentials, String host, Duration longest)
      throws PeerSetupException {
    List<SSLContext> layers = new ArrayList<>();
    TlsFiles files = credentials.tls();
    if (files != null) {
      layers.add(TlsContext.of(files, host));
    }
    ClusterSecret secret = credentials.secret();
    if (secret != null) {
      layers.add(SecretIdentity.context(secret));
    }
    return new MutualTls(layers, longest);
  }

  /**
   * Does the handshake; on failure the connection is closed.
   *
   * @param client whether this node connected
   * @return what to read from and write to; the connection is closed by closing {@code raw}
   * @throws SocketTimeoutException when it takes too long
   */
  Socket prove(Socket raw, boolean client) throws IOException {
    AtomicBoolean late = new AtomicBoolean();
    ScheduledFuture<?> deadline = deadline(raw, late);
    boolean done = false;
    try {
      // or else small messages wait for delayed acknowledgements: 80 ms a handshake
      raw.setTcpNoDelay(true);
      Socket top = raw;
      for (SSLContext each : layers) {
        top = layer(each, top, client);
      }
      done = deadline.cancel(false);
      if (!done) {
        throw new IOException("late");
      }
      return top;
    } catch (IOException e) {
      if (late.get()) {
        SocketTimeoutException timeout =
            new SocketTimeoutException("no handshake within " + longestMillis + " ms");
        timeout.initCause(e);
        throw timeout;
      }
      throw e;
    } finally {
      if (!done) {
        deadline.cancel(false);
        ProvenSocket.closeQuietly(raw);
      }
    }
  }

  private ScheduledFuture<?> deadline(Socket raw, AtomicBoolean late) throws IOException {
    Runnable end =
        () -> {
          late.set(true);
          ProvenSocket.closeQuietly(raw);
        };
    try {
      return timer.schedule(end, longestMillis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      ProvenSocket.closeQuietly(raw);
      throw new SocketException("this node leaves the cluster");
    }
  }

  private static Socket layer(SSLContext context, Socket below, boolean client) throws IOException {
    SSLSocket socket =
        (SSLSocket)
            context
                .getSocketFactory()
                .createSocket(
                    below, below.getInetAddress().getHostAddress(), below.getPort(), true);
    socket.setUseClientMode(client);
    if (!client) {
      socket.setNeedClientAuth(true);
    }
    socket.setEnabledProtocols(PROTOCOLS);
    socket.startHandshake();
    return socket;
  }

  /** Lets the handshakes that are under way run without a deadline; their sockets get closed. */
  @Override
  public void close() {
    timer.shutdownNow();
  }
}
