package io.holdfast.peer.membership;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.View;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class JGroupsMembershipTest {
  private final Cluster cluster = new Cluster();

  @AfterEach
  void tearDown() {
    cluster.close();
    Cluster.assertNoThreads();
  }

  @Test
  void join_two_eachSeesBothWithTheirFacts() throws Exception {
    JGroupsMembership one = cluster.join(1, cluster.named(1, 2));
    JGroupsMembership two = cluster.join(2, cluster.named(1, 2));
    assertThat(one.await(Cluster.LONGEST)).isTrue();
    assertThat(two.await(Cluster.LONGEST)).isTrue();
    cluster.assertSees(one, 1, 2);
    cluster.assertSees(two, 1, 2);
    assertThat(one.refusals() + two.refusals()).isZero();
    assertThat(Thread.getAllStackTraces().keySet())
        .as("the name by which MembershipThreads knows it")
        .anyMatch(each -> each.getName().startsWith(MembershipThreads.ACCEPTOR));
    assertThat(
            Thread.getAllStackTraces().keySet().stream()
                .filter(each -> each.getName().contains("membership"))
                .filter(each -> !each.isDaemon()))
        .isEmpty();
  }

  @Test
  void await_namedPeerIsNotThere_isFalse() throws Exception {
    JGroupsMembership one = cluster.join(1, cluster.named(1, 2));
    assertThat(one.view().nodes()).containsExactly(cluster.node(1));
    assertThat(one.await(Duration.ofMillis(1))).isFalse();
    JGroupsMembership alone = cluster.join(3, cluster.named(3));
    assertThat(alone.await(Cluster.LONGEST)).isTrue();
    assertThat(one.await(Duration.ofMillis(1))).isFalse();
  }

  /**
   * A node that changes its capacity leaves and joins again, and knows the other nodes meanwhile.
   * If they had gone by then, it knew them for ever.
   */
  @Test
  void join_nobodyElseIsThere_publishesItsFirstView() throws Exception {
    JGroupsMembership one = cluster.join(1, cluster.named(1, 2));
    Cluster.until(() -> one.view().version() == 1, () -> one.view().toString());
    assertThat(one.view().nodes()).containsExactly(cluster.node(1));
  }

  /** Listeners never learnt of a view that came when no thread could be started to tell it. */
  @Test
  void join_viewThatCannotBeTold_isNotTheViewYet() throws Exception {
    ThreadFactory threads = new DaemonThreads("membership-events-of-the-test");
    AtomicInteger asked = new AtomicInteger();
    ThreadFactory failsOnce =
        task -> {
          if (asked.getAndIncrement() == 0) {
            throw new OutOfMemoryError("unable to create native thread, for the test");
          }
          return threads.newThread(task);
        };
    List<View> told = new CopyOnWriteArrayList<>();
    try (JGroupsMembership one =
        JGroupsMembership.join(
            cluster.config(1, cluster.named(1), Cluster.bySecret(Cluster.SECRET)),
            true,
            failsOnce)) {
      one.listen(told::add);
      assertThat(one.await(Cluster.LONGEST)).isTrue();
      assertThat(asked).hasValue(1);
      assertThat(one.view().version()).isZero();
      JGroupsMembership two = cluster.join(2, cluster.named(1));
      cluster.assertSees(one, 1, 2);
      cluster.assertSees(two, 1, 2);
      Cluster.until(() -> !told.isEmpty(), told::toString);
      assertThat(told.get(0).version()).isEqualTo(1);
    }
  }

  @Test
  void close_whileJoining_ends() throws Exception {
    NodeAddress silent = cluster.address(2);
    try (ServerSocket peer =
        new ServerSocket(silent.port() + 1, 9, InetAddress.getByName(silent.host()))) {
      assertThat(peer.isBound()).isTrue();
      JGroupsMembership one = cluster.join(1, cluster.named(1, 2));
      one.close();
      assertThat(one.await(Cluster.LONGEST)).isFalse();
      assertThat(one.view()).isEqualTo(View.alone(cluster.node(1)));
    }
  }

  @Test
  void close_oneOfThree_theOthersSeeItGo() throws Exception {
    List<View> views = new CopyOnWriteArrayList<>();
    JGroupsMembership one = cluster.join(1, cluster.named(1));
    one.listen(views::add);
    assertThat(one.await(Cluster.LONGEST)).isTrue();
    JGroupsMembership two = cluster.join(2, cluster.named(1));
    cluster.assertSees(one, 1, 2);
    JGroupsMembership three = cluster.join(3, cluster.named(1));
    for (JGroupsMembership each : List.of(one, two, three)) {
      cluster.assertSees(each, 1, 2, 3);
    }
    three.close();
    three.close();
    cluster.assertSees(one, 1, 2);
    cluster.assertSees(two, 1, 2);
    Cluster.until(() -> views.stream().anyMatch(each -> each.version() == 4), views::toString);
    assertThat(views).extracting(View::version).endsWith(2L, 3L, 4L);
    assertThat(views).extracting(view -> view.nodes().size()).endsWith(2, 3, 2);
  }

  /**
   * A node that changes its capacity leaves and joins again, and counts views anew. A view of the
   * membership that it had left came afterwards, and counted more than those of the new one.
   */
  @Test
  void close_viewThatHasYetToBeTold_isNotTold() throws Exception {
    JGroupsMembership one = cluster.join(1, cluster.named(1));
    assertThat(one.await(Cluster.LONGEST)).isTrue();
    List<View> told = new CopyOnWriteArrayList<>();
    CompletableFuture<Void> gate = new CompletableFuture<>();
    one.listen(
        view -> {
          told.add(view);
          gate.join();
        });
    JGroupsMembership two = cluster.join(2, cluster.named(1));
    Cluster.until(() -> !told.isEmpty(), told::toString);
    JGroupsMembership three = cluster.join(3, cluster.named(1));
    cluster.assertSees(one, 1, 2, 3);
    CompletableFuture<Void> closing = CompletableFuture.runAsync(one::close);
    cluster.assertSees(two, 2, 3);
    cluster.assertSees(three, 2, 3);
    List<View> before = List.copyOf(told);
    gate.complete(null);
    closing.orTimeout(Cluster.LONGEST.toSeconds(), TimeUnit.SECONDS).join();
    assertThat(told).isEqualTo(before).hasSize(1);
  }

  @Test
  void join_fiveAtOnce_converge() throws Exception {
    List<JGroupsMembership> all = new ArrayList<>();
    for (int i = 1; i <= 5; i++) {
      all.add(cluster.join(i, cluster.named(1, 2, 3, 4, 5)));
    }
    long start = System.nanoTime();
    for (JGroupsMembership each : all) {
      assertThat(each.await(Cluster.LONGEST)).isTrue();
      cluster.assertSees(each, 1, 2, 3, 4, 5);
    }
    System.out.printf("5 nodes at once converged after %.1f s%n", seconds(start));
  }

  @Test
  void join_aNode_opensOneListeningSocket() throws Exception {
    List<String> before = listening();
    JGroupsMembership one = cluster.join(1, cluster.named(1, 2));
    JGroupsMembership two = cluster.join(2, cluster.named(1, 2));
    cluster.assertSees(one, 1, 2);
    cluster.assertSees(two, 1, 2);
    List<String> opened = new ArrayList<>(listening());
    opened.removeAll(before);
    String port = String.format(":%04X", cluster.address(1).port() + 1);
    assertThat(opened).hasSize(2).allMatch(each -> each.startsWith("tcp") && each.endsWith(port));
  }

  /** Sockets of this process that wait for strangers: listening TCP, and all UDP. */
  private static List<String> listening() throws IOException {
    List<String> own = new ArrayList<>();
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      for (Path each : descriptors.toList()) {
        try {
          own.add(Files.readSymbolicLink(each).toString());
        } catch (IOException e) {
          // closed in the meantime
        }
      }
    }
    List<String> found = new ArrayList<>();
    for (String table : List.of("tcp", "tcp6", "udp", "udp6")) {
      for (String line : Files.readAllLines(Path.of("/proc/self/net", table))) {
        String[] fields = line.strip().split("\\s+", -1);
        if (fields.length > 9
            && own.contains("socket:[" + fields[9] + "]")
            && (table.startsWith("udp") || fields[3].equals("0A"))) {
          found.add(table + " " + fields[1]);
        }
      }
    }
    return found;
  }

  private static double seconds(long start) {
    return (System.nanoTime() - start) / 1e9;
  }
}
