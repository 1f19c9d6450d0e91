package io.holdfast.peer.membership;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** More nodes than a test starts elsewhere. */
final class ManyNodesTest {
  private final Cluster cluster = new Cluster();

  @AfterEach
  void tearDown() {
    cluster.close();
    Cluster.assertNoThreads();
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
    // one living node is enough to find all others
    JGroupsMembership late = cluster.join(33, cluster.named(17));
    Cluster.until(() -> late.view().nodes().size() == 33, () -> late.view().toString());
  }

  private static double seconds(long start) {
    return (System.nanoTime() - start) / 1e9;
  }
}
