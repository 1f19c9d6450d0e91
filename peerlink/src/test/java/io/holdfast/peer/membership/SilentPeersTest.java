package io.holdfast.peer.membership;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Peers that accept connections and say nothing, as hung processes do. */
@Execution(ExecutionMode.CONCURRENT)
final class SilentPeersTest {
  private final Cluster cluster = new Cluster();
  private final List<ServerSocket> silent = new ArrayList<>();

  @AfterEach
  void tearDown() throws Exception {
    cluster.close();
    for (ServerSocket each : silent) {
      each.close();
    }
  }

  /**
   * The thread that sends everything waited for each silent peer, in each round of the search. So
   * nodes that were well did not find each other, or excluded each other.
   */
  @Test
  void join_mostNamedPeersAreSilent_othersFindEachOther() throws Exception {
    int[] named = {1, 2, 3, 4, 5, 6, 7};
    for (int each = 3; each <= 7; each++) {
      silent.add(
          new ServerSocket(
              cluster.address(each).port() + 1,
              50,
              InetAddress.getByName(cluster.address(each).host())));
    }
    JGroupsMembership one = cluster.join(1, cluster.named(named));
    JGroupsMembership two = cluster.join(2, cluster.named(named));
    cluster.assertSees(one, 1, 2);
    cluster.assertSees(two, 1, 2);
  }
}
