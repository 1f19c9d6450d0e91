package io.holdfast.peer.membership;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.peer.View;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class JGroupsMembershipTest {
  private final Cluster cluster = new Cluster();

  @AfterEach
  void tearDown() {
    cluster.close();
  }

  @Test
  void join_two_eachSeesBothWithTheirFacts() throws Exception {
    JGroupsMembership one = cluster.join(1, cluster.named(1, 2));
    JGroupsMembership two = cluster.join(2, cluster.named(1, 2));
    assertThat(one.await(Duration.ofSeconds(20))).isTrue();
    assertThat(two.await(Duration.ofSeconds(20))).isTrue();
    cluster.assertSees(one, 1, 2);
    cluster.assertSees(two, 1, 2);
    assertThat(one.refusals() + two.refusals()).isZero();
  }
}
