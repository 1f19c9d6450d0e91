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
 * Authenticates both ends of a connection as members of the cluster, before JGroups reads a byte
 * from it. Thread-safe.
 *
 * <p>The authentication is TLS 1.3 in which both sides present a certificate: the node's own, from
 * its files, or the one that is derived from the {@linkplain SecretIdentity secret}. TLS provides
 * fresh nonces, encryption and protection from replay. The standard JGroups protocols for this
 * (AUTH, SYM_ENCRYPT) leave parts of the traffic open: they check messages after any stranger has
 * been let in to talk to the transport.
 *
 * <p>Where a cluster has both, a connection with the secret's certificate runs inside the
 * connection with the nodes' certificates. A party with only a certificate can relay the inner
 * connection, but cannot read, change or end it, so both proofs hold for the two ends.
 *
 * <p>The host of a certificate is not checked here: JGroups uses IP addresses, and the authority
 * signs only nodes. The data plane checks it.
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
   * Prepares the authentication.
   *
   * @param host the host that this node's certificate must be for
   * @param longest longest duration of a handshake
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
   * Performs the handshake; closes the connection on failure.
   *
   * @param client whether this node connected
   * @return the socket to read from and write to; closing {@code raw} closes the connection
   * @throws SocketTimeoutException when the handshake takes too long
   */
  Socket prove(Socket raw, boolean client) throws IOException {
    AtomicBoolean late = new AtomicBoolean();
    ScheduledFuture<?> deadline = deadline(raw, late);
    boolean done = false;
    try {
      // otherwise small messages wait for delayed acknowledgements: 80 ms a handshake
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

  /** Drops the deadlines of handshakes in flight; the caller closes their sockets. */
  @Override
  public void close() {
    timer.shutdownNow();
  }
}
