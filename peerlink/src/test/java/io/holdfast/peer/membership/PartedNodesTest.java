package io.holdfast.peer.membership;

import java.util.ArrayList;
import java.util.List;
import org.jgroups.protocols.DISCARD;
import org.jgroups.protocols.TCP;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.stack.ProtocolStack;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Halves that cannot reach each other. */
final class PartedNodesTest {
  private final Cluster cluster = new Cluster();

  @AfterEach
  void tearDown() {
    cluster.close();
    Cluster.assertNoThreads();
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
    installAgain(all);
    start = System.nanoTime();
    for (JGroupsMembership each : all) {
      each.channel().getProtocolStack().removeProtocol(DISCARD.class);
    }
    for (JGroupsMembership each : all) {
      cluster.assertSees(each, 1, 2, 3, 4);
    }
    System.out.printf("the halves were one again after %.1f s%n", seconds(start));
  }

  /** Gives each node the view that it has, as it happens when many parts merge at once. */
  private static void installAgain(List<JGroupsMembership> all) {
    for (JGroupsMembership each : all) {
      GMS views = each.channel().getProtocolStack().findProtocol(GMS.class);
      views.castViewChangeAndSendJoinRsps(views.view(), null, List.of(), null, null);
    }
  }

  private static double seconds(long start) {
    return (System.nanoTime() - start) / 1e9;
  }
}
