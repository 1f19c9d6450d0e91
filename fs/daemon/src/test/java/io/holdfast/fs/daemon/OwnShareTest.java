package io.holdfast.fs.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class OwnShareTest {
  private final List<Long> told = new ArrayList<>();
  private final OwnShare share = new OwnShare(told::add);

  @Test
  void datasetSize_withoutPeers_isAllOfIt() {
    share.datasetSize(1000);
    assertThat(told).containsExactly(1000L);
  }

  @Test
  void share_beforeTheDatasetWasCounted_tellsNothingYet() {
    share.share(0.25);
    assertThat(told).isEmpty();
    share.datasetSize(1000);
    assertThat(told).containsExactly(250L);
  }

  @Test
  void share_whenNodesComeAndGo_isToldAgain() {
    share.datasetSize(1000);
    share.share(0.5);
    share.share(1);
    assertThat(told).containsExactly(1000L, 500L, 1000L);
  }
}
