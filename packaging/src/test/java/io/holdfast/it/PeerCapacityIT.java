package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Warming and another capacity where there are peers. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
class PeerCapacityIT {
  private static final int FILES = 400;
  private static final int FILE_BYTES = 20_000;
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  @Test
  void warmAndCapacity_ofTwoNodes_followTheWeights() {
    Dataset dataset = Dataset.create(sandbox.tmpfs("origin"), FILES, i -> FILE_BYTES);
    Cluster cluster = new Cluster(sandbox, "--capacity", "64M");
    cluster.start(dataset.root(), 2);
    Mount one = cluster.node(0).mount();
    Mount other = cluster.node(1).mount();

    sandbox.holdfast("capacity", one.name(), "192M").mustSucceed();

    for (Mount mount : new Mount[] {one, other}) {
      double share = mount.name().equals(one.name()) ? 0.75 : 0.25;
      Await.value(
          DEADLINE,
          "both know the weights",
          mount::stats,
          stats ->
              stats.number("cluster.nodes") == 2
                  && Double.valueOf(share).equals(stats.at("cluster.share")));
      sandbox.holdfast("warm", mount.name()).mustSucceed();
    }

    Stats first = one.settledStatsOfPeer();
    Stats second = other.settledStatsOfPeer();
    assertThat(first.originItems() + second.originItems()).isEqualTo(FILES);
    assertThat(first.residentItems() + second.residentItems()).isEqualTo(FILES);
    assertThat(first.residentItems()).isBetween(FILES * 6 / 10L, FILES * 9 / 10L);
    Cluster.Fetches fetches =
        cluster.readShares(dataset.shares(sandbox, new Random(1), cluster.nodes().size()));
    assertThat(fetches.originItems()).isZero();
    assertThat(sandbox.holdfast("warm", "--check", one.name()).mustSucceed().out())
        .contains("in the cluster");
  }
}
