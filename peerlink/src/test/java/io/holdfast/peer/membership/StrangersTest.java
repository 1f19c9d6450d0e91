package io.holdfast.peer.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.holdfast.peer.Credentials;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.PeerSetupException;
import io.holdfast.peer.TestAuthority;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A stranger to the cluster stays outside, is counted, and keeps nobody else out. */
@Execution(ExecutionMode.CONCURRENT)
final class StrangersTest {
  private final Cluster cluster = new Cluster();
  private final List<Socket> sockets = new ArrayList<>();
  @TempDir private Path directory;

  @AfterEach
  void tearDown() throws IOException {
    for (Socket each : sockets) {
      each.close();
    }
    cluster.close();
  }

  @Test
  void join_otherSecret_staysOutAndIsCounted() throws Exception {
    JGroupsMembership one = cluster.join(1, cluster.named(1));
    JGroupsMembership other =
        cluster.join(2, cluster.named(1, 2), Cluster.bySecret("another secret, just as long"));
    assertOutside(one, other);
  }

  @Test
  void join_certificatesOfOneAuthority_seeEachOther() throws Exception {
    TestAuthority authority = new TestAuthority(directory, "ours");
    JGroupsMembership one = cluster.join(1, cluster.named(1, 2), certified(authority, 1));
    JGroupsMembership two = cluster.join(2, cluster.named(1, 2), certified(authority, 2));
    cluster.assertSees(one, 1, 2);
    cluster.assertSees(two, 1, 2);
  }

  @Test
  void join_certificateOfAnotherAuthority_staysOut() throws Exception {
    JGroupsMembership one =
        cluster.join(1, cluster.named(1), certified(new TestAuthority(directory, "ours"), 1));
    JGroupsMembership other =
        cluster.join(2, cluster.named(1, 2), certified(new TestAuthority(directory, "other"), 2));
    assertOutside(one, other);
  }

  @Test
  void join_certificateAndSecret_bothAreNeeded() throws Exception {
    TestAuthority authority = new TestAuthority(directory, "ours");
    JGroupsMembership one =
        cluster.join(1, cluster.named(1, 2), both(authority, 1, Cluster.SECRET));
    JGroupsMembership two =
        cluster.join(2, cluster.named(1, 2), both(authority, 2, Cluster.SECRET));
    cluster.assertSees(one, 1, 2);
    cluster.assertSees(two, 1, 2);
    List<JGroupsMembership> others =
        List.of(
            cluster.join(3, cluster.named(1, 3), both(authority, 3, "another secret, as long")),
            cluster.join(
                4,
                cluster.named(1, 4),
                both(new TestAuthority(directory, "other"), 4, Cluster.SECRET)),
            cluster.join(5, cluster.named(1, 5), certified(authority, 5)),
            cluster.join(6, cluster.named(1, 6)));
    long end = System.nanoTime() + Duration.ofSeconds(5).toNanos();
    for (JGroupsMembership each : others) {
      assertThat(each.await(Duration.ofNanos(Math.max(0, end - System.nanoTime())))).isFalse();
    }
    for (JGroupsMembership each : others) {
      assertThat(each.view().nodes()).containsExactly(each.view().self());
    }
    cluster.assertSees(one, 1, 2);
    assertThat(one.refusals()).isGreaterThanOrEqualTo(others.size());
  }

  private void assertOutside(JGroupsMembership one, JGroupsMembership other) throws Exception {
    Cluster.until(
        () -> one.refusals() >= 2 && other.refusals() >= 2, () -> "refused " + one.refusals());
    assertThat(other.await(Duration.ofSeconds(4))).isFalse();
    cluster.assertSees(one, 1);
    cluster.assertSees(other, 2);
    assertThat(one.view().version()).as("the view of itself").isLessThanOrEqualTo(1);
  }

  private Credentials certified(TestAuthority authority, int node) {
    return new Credentials(null, authority.issue(cluster.address(node).host()));
  }

  private Credentials both(TestAuthority authority, int node, String secret)
      throws PeerSetupException {
    return new Credentials(Cluster.secret(secret), authority.issue(cluster.address(node).host()));
  }

  @Test
  void join_manyIdleConnections_arePassedBy() throws Exception {
    JGroupsMembership one = cluster.join(1, cluster.named(1));
    assertThat(one.await(Cluster.LONGEST)).isTrue();
    for (int i = 0; i < 50; i++) {
      connect(1);
    }
    long start = System.nanoTime();
    JGroupsMembership two = cluster.join(2, cluster.named(1));
    cluster.assertSees(one, 1, 2);
    cluster.assertSees(two, 1, 2);
    System.out.printf(
        "joined past 50 idle connections after %.1f s%n", (System.nanoTime() - start) / 1e9);
  }

  @Test
  void join_moreIdleConnectionsThanAreKept_arePassedByAndClosed() throws Exception {
    JGroupsMembership one = cluster.join(1, cluster.named(1));
    assertThat(one.await(Cluster.LONGEST)).isTrue();
    int count = 3 * ProvenServerSocket.MOST_UNPROVEN;
    for (int i = 0; i < count; i++) {
      connect(1);
    }
    JGroupsMembership two = cluster.join(2, cluster.named(1));
    cluster.assertSees(one, 1, 2);
    cluster.assertSees(two, 1, 2);
    Cluster.until(() -> one.refusals() >= count, () -> one.refusals() + " of " + count);
    assertThat(one.refusals()).isEqualTo(count);
  }

  @Test
  void connect_garbage_isRefusedAndCounted() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    JGroupsMembership one = cluster.join(1, cluster.named(1));
    assertThat(one.await(Cluster.LONGEST)).isTrue();
    int count = 60;
    for (int i = 0; i < count; i++) {
      byte[] bytes = new byte[random.nextInt(4000)];
      random.nextBytes(bytes);
      if (i % 3 == 0 && bytes.length > 5) {
        // what a TLS record begins with
        System.arraycopy(new byte[] {22, 3, 1, 0x3f, 0}, 0, bytes, 0, 5);
      }
      try (Socket socket = connect(1)) {
        OutputStream out = socket.getOutputStream();
        out.write(bytes);
      } catch (IOException e) {
        // refused before everything was sent: as it should be
      }
    }
    Cluster.until(
        () -> one.refusals() == count, () -> "seed " + seed + ", refused " + one.refusals());
    JGroupsMembership two = cluster.join(2, cluster.named(1));
    cluster.assertSees(one, 1, 2);
    cluster.assertSees(two, 1, 2);
  }

  @Test
  void connect_tlsWithoutTheClustersCertificate_isRefused() throws Exception {
    JGroupsMembership one = cluster.join(1, cluster.named(1));
    assertThat(one.await(Cluster.LONGEST)).isTrue();
    SSLContext stranger = SSLContext.getInstance("TLS");
    stranger.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
    try (Socket below = connect(1);
        SSLSocket socket =
            (SSLSocket) stranger.getSocketFactory().createSocket(below, "127.0.0.2", 1, true)) {
      assertThatExceptionOfType(IOException.class)
          .isThrownBy(
              () -> {
                socket.startHandshake();
                // in TLS 1.3 the client learns here what the server thinks of it
                int read = socket.getInputStream().read();
                throw new IOException(read < 0 ? "closed" : "let in");
              })
          .withMessageNotContaining("let in");
    }
    Cluster.until(() -> one.refusals() == 1, () -> "refused " + one.refusals());
  }

  private Socket connect(int node) throws IOException {
    NodeAddress address = cluster.address(node);
    Socket socket = new Socket(address.host(), address.port() + 1);
    sockets.add(socket);
    return socket;
  }
}
