package io.holdfast.peer.membership;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicReference;
import org.jgroups.util.DefaultSocketFactory;
import org.jspecify.annotations.Nullable;

/** Creates the sockets of JGroups. Thread-safe. */
final class ProvenSockets extends DefaultSocketFactory {
  private final MutualTls tls;
  private final RejectedConnections refusals;
  private final SilentHosts silent;
  private final AtomicReference<@Nullable ProvenServerSocket> first;

  /**
   * Creates a factory.
   *
   * @param silent hosts that hold nothing up; stays with the caller
   * @param first a socket that already listens, so that the caller knows that the address is usable
   */
  ProvenSockets(
      MutualTls tls, RejectedConnections refusals, SilentHosts silent, ProvenServerSocket first) {
    this.tls = tls;
    this.refusals = refusals;
    this.silent = silent;
    this.first = new AtomicReference<>(first);
  }

  @Override
  public Socket createSocket(String service) {
    return new ProvenSocket(tls, refusals, silent);
  }

  @Override
  public ServerSocket createServerSocket(String service) throws IOException {
    ProvenServerSocket ready = first.getAndSet(null);
    return ready == null ? new ProvenServerSocket(tls, refusals) : ready;
  }
}
