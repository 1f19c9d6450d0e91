package io.holdfast.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Random;
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

  @Test
  void next_withoutOne_isTheOwnerAmongTheOthers() {
    double[] weights = {1, 2, 0, 4};
    for (long item = 0; item < 10_000; item++) {
      for (int gone = 0; gone < NODES.length; gone++) {
        double[] others = weights.clone();
        others[gone] = 0;
        assertThat(Rendezvous.next(item, NODES, weights, gone))
            .isEqualTo(Rendezvous.owner(item, NODES, others));
      }
      assertThat(Rendezvous.next(item, NODES, weights, -1))
          .isEqualTo(Rendezvous.owner(item, NODES, weights));
    }
    assertThat(Rendezvous.next(1, NODES, new double[] {0, 1, 0, 0}, 1)).isEqualTo(-1);
    assertThat(Rendezvous.next(1, new long[0], new double[0], -1)).isEqualTo(-1);
  }

  @Test
  void firstTwo_anyNodesAndWeights_areOwnerAndNext() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 2000; round++) {
      long[] nodes = random.longs(random.nextInt(80)).toArray();
      double[] weights = new double[nodes.length];
      double spread = random.nextInt(3) * 20;
      for (int i = 0; i < nodes.length; i++) {
        boolean none = random.nextInt(10) == 0;
        weights[i] = none ? 0 : Math.rint(Math.exp(random.nextDouble() * spread) * 1e6);
      }
      long[] prepared = Rendezvous.prepared(nodes);
      for (int i = 0; i < 50; i++) {
        long item = random.nextLong();
        int owner = Rendezvous.next(item, nodes, weights, -1);
        int next = owner < 0 ? -1 : Rendezvous.next(item, nodes, weights, owner);
        long both = Rendezvous.firstTwo(item, prepared, weights);
        assertThat((int) (both >> 32)).as("owner, seed %d", seed).isEqualTo(owner);
        assertThat((int) both).as("next, seed %d", seed).isEqualTo(next);
      }
    }
  }

  @Test
  void owner_knownItems_neverMove() {
    // what one release placed, the next one finds
    double[] weights = {1, 2, 3, 4};
    int[] owners = new int[16];
    for (int item = 0; item < owners.length; item++) {
      owners[item] = Rendezvous.owner(item, NODES, weights);
    }
    assertThat(owners).containsExactly(3, 3, 1, 1, 3, 1, 3, 3, 1, 1, 3, 3, 3, 1, 2, 2);
    assertThat(new NodeAddress("node1", 7070).hash()).isEqualTo(0xca9ee672ac83388dL);
  }
}
