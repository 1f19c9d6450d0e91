package io.holdfast.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

final class RendezvousTest {
  private static final int ITEMS = 100_000;
  private static final long[] NODES = {11, 22, 33, 44};

  @Test
  void owner_equalWeights_equalShares() {
    assertShares(new double[] {1, 1, 1, 1}, 0.25, 0.25, 0.25, 0.25);
  }

  @Test
  void owner_weights_sharesInProportion() {
    assertShares(new double[] {1, 2, 3, 4}, 0.1, 0.2, 0.3, 0.4);
    assertShares(new double[] {64e9, 0, 64e9, 128e9}, 0.25, 0, 0.25, 0.5);
  }

  private static void assertShares(double[] weights, double... shares) {
    int[] owned = new int[NODES.length];
    for (long item = 0; item < ITEMS; item++) {
      owned[Rendezvous.owner(item, NODES, weights)]++;
    }
    for (int i = 0; i < shares.length; i++) {
      // five standard deviations of the count are 0.008 at most
      assertThat((double) owned[i] / ITEMS).isEqualTo(shares[i], within(0.008));
    }
  }

  @Test
  void owner_nodeGone_onlyItsItemsMove() {
    double[] all = {1, 2, 1, 1};
    double[] without = {1, 0, 1, 1};
    long[] three = {11, 33, 44};
    double[] weightsOfThree = {1, 1, 1};
    for (long item = 0; item < ITEMS; item++) {
      int before = Rendezvous.owner(item, NODES, all);
      int after = Rendezvous.owner(item, NODES, without);
      assertThat(after).isNotEqualTo(1);
      if (before != 1) {
        assertThat(after).isEqualTo(before);
      }
      assertThat(three[Rendezvous.owner(item, three, weightsOfThree)]).isEqualTo(NODES[after]);
    }
  }

  @Test
  void owner_orderOfNodes_doesNotMatter() {
    long[] turned = {44, 33, 22, 11};
    double[] equal = new double[4];
    Arrays.fill(equal, 3);
    for (long item = -1000; item < 1000; item++) {
      assertThat(turned[Rendezvous.owner(item, turned, equal)])
          .isEqualTo(NODES[Rendezvous.owner(item, NODES, equal)]);
    }
  }

  @Test
  void owner_nobody_isRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Rendezvous.owner(1, NODES, new double[4]))
        .withMessage("none of 4 nodes has a weight above 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Rendezvous.owner(1, new long[0], new double[0]));
  }
}
