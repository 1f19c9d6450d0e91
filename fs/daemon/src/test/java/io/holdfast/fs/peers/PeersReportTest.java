package io.holdfast.fs.peers;

import static io.holdfast.fs.peers.PeersFixture.A;
import static io.holdfast.fs.peers.PeersFixture.B;
import static io.holdfast.fs.peers.PeersFixture.C;
import static io.holdfast.fs.peers.PeersFixture.DATASET;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FakeClock;
import io.holdfast.fs.figures.ClusterFigures;
import io.holdfast.fs.figures.PlanFigures;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.posix.PosixOrigin;
import io.holdfast.fs.residency.Selection;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.membership.Discovery;
import io.holdfast.peer.transfer.PeerFigures;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

final class PeersReportTest {
  private final FakeClock clock = new FakeClock();

  private static PeerFigures suspect(NodeAddress peer) {
    return new PeerFigures(
        peer,
        true,
        Instant.EPOCH,
        -1,
        0,
        0,
        0,
        0,
        1,
        new PeerFigures.Load(0, 0, 0),
        Duration.ZERO,
        Duration.ZERO);
  }

  @Test
  void cluster_countsNodesThatShareTheDataset_andPeersOfTheView() throws IOException {
    try (PeersFixture node = new PeersFixture(64 << 20, Selection.NONE);
        Origin origin = PosixOrigin.open(node.sandbox.root(), Instant::now)) {
      node.view(A, B, C);
      node.cluster.leaveOut(Set.of(C.address()));
      NodeAddress gone = new NodeAddress("gone", 7070);
      PeersReport report =
          new PeersReport(
              new PeerSettings(
                  A.address(),
                  new Discovery.Addresses(List.of(B.address())),
                  null,
                  null,
                  DATASET,
                  Duration.ofMinutes(1)),
              node.cluster,
              node.residency,
              new PeersReport.Counts(List.of(suspect(B.address()), suspect(gone)), 2, Map.of()),
              agreement(origin));

      ClusterFigures cluster = report.cluster(0, PlanFigures.none("off"));

      assertThat(cluster.nodes()).as("A and B, not C").isEqualTo(2);
      assertThat(cluster.suspect()).as("B").isEqualTo(1);
      assertThat(cluster.capacityBytes()).isEqualTo(A.capacityBytes() + B.capacityBytes());
    }
  }

  private Agreement agreement(Origin origin) {
    return new Agreement(
        DATASET.id(),
        A.address(),
        new Agreement.Parts(
            new OwnSketch(new SketchMaker(origin, clock), clock),
            Runnable::run,
            clock,
            Agreement.LONGEST_WAIT),
        peer -> new CompletableFuture<>(),
        () -> {});
  }
}
