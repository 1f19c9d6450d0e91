package io.holdfast.peer.transfer;

import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.transfer.Nodes.TestNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Stands between a node and those who ask it: passes bytes on, remembers and changes them. */
final class Wiretap implements AutoCloseable {
  private static final int BUFFER = 1 << 16;

  private final ServerSocket listener;
  private final NodeAddress address;
  private final NodeAddress behind;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private final List<ByteArrayOutputStream> requests = new CopyOnWriteArrayList<>();

  /** Changes what the node answers; null passes it on as it is. */
  volatile @Nullable Change answers;

  /** Changes what is asked; null passes it on as it is. */
  volatile @Nullable Change questions;

  /** A change of bytes on their way. */
  interface Change {
    /**
     * Changes bytes in place.
     *
     * @param at how many went by on this connection and in this direction before these
     * @return how many of them to pass on; fewer than all ends the connection behind them, -1
     *     resets it
     */
    int apply(byte[] bytes, int length, long at);
  }

  Wiretap(String host) {
    try {
      listener = new ServerSocket(0, 100, InetAddress.getByName(host));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    address = new NodeAddress(host, listener.getLocalPort());
    behind = Nodes.free(host);
    daemon(this::accept);
  }

  /** Starts the node behind it. */
  TestNode node(Nodes nodes) {
    return nodes.start(Nodes.config(address, Nodes.SECRET), behind());
  }

  InetSocketAddress behind() {
    return behind.resolve();
  }

  NodeAddress address() {
    return address;
  }

  int connections() {
    return requests.size();
  }

  /** Returns what was asked on a connection. */
  byte[] asked(int connection) {
    synchronized (requests) {
      return requests.get(connection).toByteArray();
    }
  }

  /** Closes the connections, not the listener. */
  void cut() {
    for (Socket each : sockets) {
      close(each);
    }
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket outer = listener.accept();
        Socket inner = new Socket(behind.host(), behind.port());
        sockets.add(outer);
        sockets.add(inner);
        ByteArrayOutputStream asked = new ByteArrayOutputStream();
        requests.add(asked);
        daemon(() -> pass(outer, inner, asked));
        daemon(() -> pass(inner, outer, null));
      } catch (IOException e) {
        // closed, or nobody is behind it: the next one may have more luck
      }
    }
  }

  private static void daemon(Runnable runnable) {
    Thread thread = new Thread(runnable, "wiretap");
    thread.setDaemon(true);
    thread.start();
  }

  private void pass(Socket from, Socket to, @Nullable ByteArrayOutputStream asked) {
    byte[] bytes = new byte[BUFFER];
    long at = 0;
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int length = in.read(bytes); length >= 0; length = in.read(bytes)) {
        if (asked != null) {
          synchronized (requests) {
            asked.write(bytes, 0, length);
          }
        }
        Change change = asked == null ? answers : questions;
        int passed = change == null ? length : change.apply(bytes, length, at);
        out.write(bytes, 0, Math.max(0, passed));
        at += length;
        if (passed < 0) {
          to.setSoLinger(true, 0);
        }
        if (passed < length) {
          break;
        }
      }
    } catch (IOException e) {
      // one side is gone, so the other goes too
      close(to);
    } finally {
      close(to);
      close(from);
    }
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      cut();
    }
  }
}
