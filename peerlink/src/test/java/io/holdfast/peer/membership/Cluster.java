package io.holdfast.peer.membership;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.peer.ClusterNode;
import io.holdfast.peer.ClusterSecret;
import io.holdfast.peer.Credentials;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.PeerSetupException;
import io.holdfast.peer.SharedDataset;
import io.holdfast.peer.View;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** Nodes of one machine, each at an address of its own, for tests; closing it closes them all. */
final class Cluster implements AutoCloseable {
  static final SharedDataset DATASET = new SharedDataset("imagenet", 8 << 20);
  static final String SECRET = "correct horse battery staple";
  static final Duration LONGEST = Duration.ofSeconds(90);

  private final int port = freePort();
  private final List<JGroupsMembership> members = new ArrayList<>();

  static ClusterSecret secret(String text) throws PeerSetupException {
    return ClusterSecret.of("test", text.getBytes(StandardCharsets.UTF_8));
  }

  static Credentials bySecret(String text) throws PeerSetupException {
    return new Credentials(secret(text), null);
  }

  /** Returns the n-th node's data-plane address. */
  NodeAddress address(int n) {
    return new NodeAddress("127.0.0." + (n + 1), port);
  }

  ClusterNode node(int n) {
    return new ClusterNode(address(n), DATASET, 1000L * n);
  }

  Discovery named(int... nodes) {
    return new Discovery.Addresses(Arrays.stream(nodes).mapToObj(this::address).toList());
  }

  JGroupsMembership.Config config(int n, Discovery discovery, Credentials credentials) {
    return new JGroupsMembership.Config(
        node(n), address(n).at(port + 1), discovery, credentials, 1);
  }

  JGroupsMembership join(int n, Discovery discovery, Credentials credentials)
      throws PeerSetupException {
    JGroupsMembership member = JGroupsMembership.join(config(n, discovery, credentials));
    synchronized (members) {
      members.add(member);
    }
    return member;
  }

  JGroupsMembership join(int n, Discovery discovery) throws PeerSetupException {
    return join(n, discovery, bySecret(SECRET));
  }

  static void assertSees(JGroupsMembership member, ClusterNode... nodes) {
    Arrays.sort(nodes, (one, other) -> one.address().compareTo(other.address()));
    until(() -> member.view().nodes().equals(List.of(nodes)), () -> describe(member, nodes));
    assertThat(member.view().at(member.view().self().address())).contains(member.view().self());
  }

  private static String describe(JGroupsMembership member, ClusterNode... nodes) {
    View view = member.view();
    return view.self().address() + " sees " + view.nodes() + " and not " + Arrays.toString(nodes);
  }

  void assertSees(JGroupsMembership member, int... nodes) {
    assertSees(member, IntStream.of(nodes).mapToObj(this::node).toArray(ClusterNode[]::new));
  }

  static void until(BooleanSupplier condition, Supplier<String> what) {
    until(LONGEST, condition, what);
  }

  static void until(Duration longest, BooleanSupplier condition, Supplier<String> what) {
    long end = System.nanoTime() + longest.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - end > 0) {
        throw new AssertionError("did not happen: " + what.get());
      }
      try {
        Thread.sleep(5);
      } catch (InterruptedException e) {
        throw new AssertionError("interrupted", e);
      }
    }
  }

  /** A port whose successor is free, too, at all loopback addresses, or was a moment ago. */
  private static int freePort() {
    for (int i = 0; i < 100; i++) {
      try (ServerSocket one = new ServerSocket(0, 1, InetAddress.getByName("0.0.0.0"));
          ServerSocket two =
              new ServerSocket(one.getLocalPort() + 1, 1, InetAddress.getByName("0.0.0.0"))) {
        return two.getLocalPort() - 1;
      } catch (IOException | IllegalArgumentException e) {
        // the next is taken; try another
      }
    }
    throw new AssertionError("no two free ports in a row");
  }

  /** Checks that none of the nodes has left a thread behind. */
  static void assertNoThreads() {
    until(() -> threads().isEmpty(), () -> "threads end: " + threads());
  }

  private static List<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.contains("membership") || name.contains("127.0.0."))
        .toList();
  }

  @Override
  public void close() {
    List<JGroupsMembership> all;
    synchronized (members) {
      all = List.copyOf(members);
    }
    all.parallelStream().forEach(JGroupsMembership::close);
  }
}
