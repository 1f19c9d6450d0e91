package io.holdfast.fs.peers;

import static io.holdfast.fs.peers.PeersFixture.A;
import static io.holdfast.fs.peers.PeersFixture.B;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.peer.ClusterNode;
import io.holdfast.peer.View;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ClusterTest {
  private final Cluster cluster = new Cluster(A);

  @Test
  void update_newerView_isTaken() {
    assertThat(cluster.share(A)).isEqualTo(1);
    assertThat(cluster.update(new View(1, A, List.of(A, B)))).isTrue();
    assertThat(cluster.share(A)).isEqualTo(0.5);
  }

  /** Two threads bring views, and the one with the older may come last. */
  @Test
  void update_olderView_isNot() {
    cluster.update(new View(2, A, List.of(A, B)));
    assertThat(cluster.update(new View(1, A, List.of(A)))).isFalse();
    assertThat(cluster.view().version()).isEqualTo(2);
    assertThat(cluster.share(A)).isEqualTo(0.5);
  }

  /** The membership that it joins with then counts from one again. */
  @Test
  void resized_ownNode_hasAnotherShareAndTakesTheNextFirstView() {
    cluster.update(new View(7, A, List.of(A, B)));
    ClusterNode larger = new ClusterNode(A.address(), A.dataset(), 3 * A.capacityBytes());
    cluster.resized(larger);
    assertThat(cluster.view().nodes()).containsExactly(larger, B);
    assertThat(cluster.share(larger)).isEqualTo(0.75);
    assertThat(cluster.update(new View(1, larger, List.of(larger)))).isTrue();
    assertThat(cluster.share(larger)).as("the other node has gone").isEqualTo(1);
  }
}
