package io.holdfast.peer.membership;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

final class ProvenServerSocketTest {
  private static final Duration LONGEST = Duration.ofSeconds(30);

  /**
   * Strangers who connect have threads started, up to the bound of the machine. The thread that
   * accepts ended with the first of these that could not be started, and no node could join the
   * cluster by this one any more.
   */
  @Test
  void accept_afterAThreadThatCouldNotBeStarted_goesOn() throws Exception {
    ThreadFactory threads = new DaemonThreads("handshake-of-the-test");
    AtomicBoolean failed = new AtomicBoolean();
    ThreadFactory failsOnce =
        task -> {
          if (!failed.getAndSet(true)) {
            throw new OutOfMemoryError("unable to create native thread, for the test");
          }
          return threads.newThread(task);
        };
    RejectedConnections refusals = new RejectedConnections(System::nanoTime);
    try (MutualTls tls = MutualTls.of(Cluster.bySecret(Cluster.SECRET), "127.0.0.1", LONGEST);
        ProvenServerSocket server = new ProvenServerSocket(tls, refusals, failsOnce)) {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      try (Socket lost = connect(server);
          Socket next = connect(server)) {
        assertThat(lost.getInputStream().read()).as("its end").isEqualTo(-1);
        tls.prove(next, true);
        try (Socket accepted = accept(server)) {
          assertThat(accepted.getPort()).isEqualTo(next.getLocalPort());
        }
      }
    }
    assertThat(refusals.count()).isEqualTo(1);
  }

  private static Socket connect(ProvenServerSocket server) throws IOException {
    Socket socket = new Socket(server.getInetAddress(), server.getLocalPort());
    socket.setSoTimeout((int) LONGEST.toMillis());
    return socket;
  }

  private static Socket accept(ProvenServerSocket server) {
    return CompletableFuture.supplyAsync(
            () -> {
              try {
                return server.accept();
              } catch (IOException e) {
                throw new AssertionError(e);
              }
            })
        .orTimeout(LONGEST.toSeconds(), TimeUnit.SECONDS)
        .join();
  }
}
