package io.holdfast.peer.membership;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.peer.ClusterNode;
import io.holdfast.peer.View;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Nodes that go without a word. */
final class KilledNodesTest {
  private final Cluster cluster = new Cluster();

  @AfterEach
  void tearDown() {
    cluster.close();
    Cluster.assertNoThreads();
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
    ClusterNode larger = new ClusterNode(cluster.address(3), Cluster.DATASET, 77);
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
      assertThat(each.nodes()).extracting(ClusterNode::address).doesNotHaveDuplicates();
    }
  }

  private static double seconds(long start) {
    return (System.nanoTime() - start) / 1e9;
  }
}
