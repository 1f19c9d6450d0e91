package io.holdfast.peer.membership;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.peer.Node;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.View;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.jgroups.protocols.DISCARD;
import org.jgroups.protocols.TCP;
import org.jgroups.stack.ProtocolStack;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class JGroupsMembershipTest {
  private final Cluster cluster = new Cluster();

  @AfterEach
  void tearDown() {
    cluster.close();
    Cluster.until(() -> ours().isEmpty(), () -> "threads end: " + ours());
  }

  private static List<String> ours() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.contains("membership") || name.contains("127.0.0."))
        .toList();
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
    assertThat(
            Thread.getAllStackTraces().keySet().stream()
                .filter(each -> each.getName().contains("membership"))
                .filter(each -> !each.isDaemon()))
        .isEmpty();
  }

  @Test
  void await_namedPeerIsNotThere_isFalse() throws Exception {
    JGroupsMembership one = cluster.join(1, cluster.named(1, 2));
    assertThat(one.view()).isEqualTo(View.alone(cluster.node(1)));
    assertThat(one.await(Duration.ofMillis(1))).isFalse();
    JGroupsMembership alone = cluster.join(3, cluster.named(3));
    assertThat(alone.await(Cluster.LONGEST)).isTrue();
    assertThat(one.await(Duration.ofMillis(1))).isFalse();
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
    Cluster.until(() -> views.size() == 3, views::toString);
    assertThat(views).extracting(View::version).containsExactly(1L, 2L, 3L);
    assertThat(views).extracting(view -> view.nodes().size()).containsExactly(2, 3, 2);
  }

  @Test
  void kill_aProcess_isNoticedAndItsSuccessorReplacesIt() throws Exception {
    JGroupsMembership one = cluster.join(1, cluster.named(1));
    JGroupsMembership two = cluster.join(2, cluster.named(1));
    List<View> views = new CopyOnWriteArrayList<>();
    try (NodeProcess three = new NodeProcess(cluster.node(3), cluster.named(1))) {
      cluster.assertSees(one, 1, 2, 3);
      cluster.assertSees(two, 1, 2, 3);
      one.listen(views::add);
      long start = System.nanoTime();
      three.kill();
      cluster.assertSees(one, 1, 2);
      cluster.assertSees(two, 1, 2);
      System.out.printf("a killed node was gone after %.1f s%n", seconds(start));
    }
    Node larger = new Node(cluster.address(3), Cluster.DATASET, 77);
    try (NodeProcess again = new NodeProcess(larger, cluster.named(1))) {
      Cluster.assertSees(one, cluster.node(1), cluster.node(2), larger);
      again.kill();
      // at once, so that the one who was killed may still be a member for the others
      JGroupsMembership successor = cluster.join(3, cluster.named(1));
      cluster.assertSees(successor, 1, 2, 3);
      cluster.assertSees(one, 1, 2, 3);
      cluster.assertSees(two, 1, 2, 3);
    }
    for (View each : views) {
      assertThat(each.nodes()).extracting(Node::address).doesNotHaveDuplicates();
    }
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
  void cut_twoHalves_partAndMergeAgain() throws Exception {
    List<JGroupsMembership> all = new ArrayList<>();
    for (int i = 1; i <= 4; i++) {
      all.add(cluster.join(i, cluster.named(1, 2, 3, 4)));
    }
    for (JGroupsMembership each : all) {
      cluster.assertSees(each, 1, 2, 3, 4);
    }
    long start = System.nanoTime();
    for (int i = 0; i < 4; i++) {
      DISCARD discard = new DISCARD();
      for (int j = 0; j < 4; j++) {
        if (i / 2 != j / 2) {
          discard.addIgnoreMember(all.get(j).channel().getAddress());
        }
      }
      all.get(i)
          .channel()
          .getProtocolStack()
          .insertProtocol(discard, ProtocolStack.Position.ABOVE, TCP.class);
    }
    for (int i = 0; i < 4; i++) {
      cluster.assertSees(all.get(i), i / 2 * 2 + 1, i / 2 * 2 + 2);
    }
    System.out.printf("a cut was noticed after %.1f s%n", seconds(start));
    start = System.nanoTime();
    for (JGroupsMembership each : all) {
      each.channel().getProtocolStack().removeProtocol(DISCARD.class);
    }
    for (JGroupsMembership each : all) {
      cluster.assertSees(each, 1, 2, 3, 4);
    }
    System.out.printf("the halves were one again after %.1f s%n", seconds(start));
  }

  @Test
  void join_manyAtOnce_converge() throws Exception {
    int count = 32;
    int[] nodes = IntStream.rangeClosed(1, count).toArray();
    List<JGroupsMembership> all = new ArrayList<>();
    long start = System.nanoTime();
    for (int each : nodes) {
      all.add(cluster.join(each, cluster.named(1, 2, 3)));
    }
    for (JGroupsMembership each : all) {
      cluster.assertSees(each, nodes);
    }
    System.out.printf("%d nodes in one process converged after %.1f s%n", count, seconds(start));
    // one that is there is enough to find all others
    JGroupsMembership late = cluster.join(33, cluster.named(17));
    Cluster.until(() -> late.view().nodes().size() == 33, () -> late.view().toString());
  }

  private static double seconds(long start) {
    return (System.nanoTime() - start) / 1e9;
  }
}
