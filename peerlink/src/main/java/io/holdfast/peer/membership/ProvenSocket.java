package io.holdfast.peer.membership;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * A connection as JGroups sees it: a socket between authenticated ends. A socket that connects
 * authenticates while it does.
 *
 * <p>It is not an {@code SSLSocket}, and closes the connection below at once: an orderly end of TLS
 * waits for the other side, which may be stopped.
 */
@SuppressWarnings("UnsynchronizedOverridesSynchronized") // the socket below has its own locks
final class ProvenSocket extends Socket {
  private final Socket raw;
  private final MutualTls tls;
  private final RejectedConnections refusals;
  private final @Nullable SilentHosts silent;
  private volatile Socket top;

  /**
   * Creates a connection that is not made yet.
   *
   * @param silent hosts for which it does not wait; null if it waits for each
   */
  ProvenSocket(MutualTls tls, RejectedConnections refusals, @Nullable SilentHosts silent) {
    this.tls = tls;
    this.refusals = refusals;
    this.silent = silent;
    raw = new Socket();
    top = raw;
  }

  /** Wraps an accepted and authenticated connection. */
  ProvenSocket(MutualTls tls, RejectedConnections refusals, Socket raw, Socket top) {
    this.tls = tls;
    this.refusals = refusals;
    this.silent = null;
    this.raw = raw;
    this.top = top;
  }

  static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // the socket is useless now, closed or not
    }
  }

  @Override
  public void connect(SocketAddress to, int timeoutMillis) throws IOException {
    if (silent == null) {
      connectAndProve(to, timeoutMillis);
    } else {
      silent.connect(to, () -> connectAndProve(to, timeoutMillis));
    }
  }

  private void connectAndProve(SocketAddress to, int timeoutMillis) throws IOException {
    raw.connect(to, timeoutMillis);
    try {
      top = tls.prove(raw, true);
    } catch (SocketTimeoutException e) {
      throw e;
    } catch (SSLException e) {
      refusals.add(to.toString(), String.valueOf(e.getMessage()));
      throw e;
    }
  }

  @Override
  public void connect(SocketAddress to) throws IOException {
    connect(to, 0);
  }

  @Override
  public void bind(SocketAddress address) throws IOException {
    raw.bind(address);
  }

  @Override
  public InputStream getInputStream() throws IOException {
    return top.getInputStream();
  }

  @Override
  public OutputStream getOutputStream() throws IOException {
    return top.getOutputStream();
  }

  @Override
  public void close() throws IOException {
    raw.close();
  }

  @Override
  public boolean isClosed() {
    return raw.isClosed();
  }

  @Override
  public boolean isConnected() {
    return raw.isConnected();
  }

  @Override
  public boolean isBound() {
    return raw.isBound();
  }

  @Override
  public InetAddress getInetAddress() {
    return raw.getInetAddress();
  }

  @Override
  public InetAddress getLocalAddress() {
    return raw.getLocalAddress();
  }

  @Override
  public int getPort() {
    return raw.getPort();
  }

  @Override
  public int getLocalPort() {
    return raw.getLocalPort();
  }

  @Override
  public SocketAddress getRemoteSocketAddress() {
    return raw.getRemoteSocketAddress();
  }

  @Override
  public SocketAddress getLocalSocketAddress() {
    return raw.getLocalSocketAddress();
  }

  @Override
  public void setSoTimeout(int millis) throws SocketException {
    raw.setSoTimeout(millis);
  }

  @Override
  public int getSoTimeout() throws SocketException {
    return raw.getSoTimeout();
  }

  @Override
  public void setKeepAlive(boolean on) throws SocketException {
    raw.setKeepAlive(on);
  }

  @Override
  public void setTcpNoDelay(boolean on) throws SocketException {
    raw.setTcpNoDelay(on);
  }

  @Override
  public void setSoLinger(boolean on, int seconds) throws SocketException {
    raw.setSoLinger(on, seconds);
  }

  @Override
  public void setSendBufferSize(int size) throws SocketException {
    raw.setSendBufferSize(size);
  }

  @Override
  public void setReceiveBufferSize(int size) throws SocketException {
    raw.setReceiveBufferSize(size);
  }

  @Override
  public String toString() {
    return raw.toString();
  }
}
