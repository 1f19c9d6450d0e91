package io.holdfast.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

final class PlacementTest {
  private static final SharedDataset DATASET = new SharedDataset("imagenet", 8 << 20);

  private static ClusterNode node(int n, SharedDataset dataset, long capacity) {
    return new ClusterNode(new NodeAddress("node" + n, 7070), dataset, capacity);
  }

  @Test
  void order_nodesOfOtherDatasets_ownNothing() {
    ClusterNode self = node(1, DATASET, 10);
    ClusterNode peer = node(2, DATASET, 20);
    ClusterNode other = node(3, new SharedDataset("other", 8 << 20), 1000);
    ClusterNode otherSize = node(4, new SharedDataset("imagenet", 4 << 20), 1000);
    View view = new View(1, self, List.of(self, peer, other, otherSize));
    Placement placement = new Placement(view);
    for (long item = 0; item < 1000; item++) {
      Placement.Order order = placement.order(item);
      assertThat(List.of(self, peer)).contains(order.owner(), order.next());
      assertThat(order.owner()).isNotEqualTo(order.next());
    }
    assertThat(placement.view()).isSameAs(view);
    assertThat(placement.share(self)).isEqualTo(10 / 30.0, within(1e-12));
    assertThat(placement.share(peer)).isEqualTo(20 / 30.0, within(1e-12));
    assertThat(placement.share(other)).isZero();
  }

  @Test
  void order_nobodyHasCapacity_isNobody() {
    Placement none = new Placement(View.alone(node(1, DATASET, 0)));
    assertThat(none.order(7)).isEqualTo(new Placement.Order(null, null));
    assertThat(none.share(node(1, DATASET, 0))).isZero();
    ClusterNode alone = node(1, DATASET, 1);
    assertThat(new Placement(View.alone(alone)).order(7))
        .isEqualTo(new Placement.Order(alone, null));
  }

  @Test
  void order_ownerGone_nextOwns() {
    ClusterNode[] nodes = {node(1, DATASET, 3), node(2, DATASET, 1), node(3, DATASET, 2)};
    Placement all = new Placement(new View(1, nodes[0], List.of(nodes)));
    Placement less = new Placement(new View(2, nodes[0], List.of(nodes[0], nodes[2])));
    for (long item = 0; item < 10_000; item++) {
      Placement.Order before = all.order(item);
      ClusterNode expected = before.owner().equals(nodes[1]) ? before.next() : before.owner();
      assertThat(less.order(item).owner()).isEqualTo(expected);
    }
  }

  @Test
  void order_datasetsOfEqualNodes_areSpreadIndependently() {
    Placement one = placement("a");
    Placement two = placement("b");
    long same =
        LongStream.range(0, 40_000)
            .filter(
                item -> one.order(item).owner().address().equals(two.order(item).owner().address()))
            .count();
    // one in four by chance; five standard deviations are 433
    assertThat(same).isBetween(9_500L, 10_500L);
  }

  private static Placement placement(String id) {
    SharedDataset dataset = new SharedDataset(id, 1);
    List<ClusterNode> nodes =
        LongStream.range(0, 4).mapToObj(i -> node((int) i, dataset, 1)).toList();
    return new Placement(new View(1, nodes.get(0), nodes));
  }

  @Test
  void order_hundredNodes_sharesAreEvenAndFewItemsMove() {
    PlacementScale.Figures figures = PlacementScale.measure(100, 1_000_000);
    // 10,000 items a node: a standard deviation of 1 %, the largest of 100 about 2.5 of them
    assertThat(figures.largestShare()).isLessThan(1.1);
    assertThat(figures.moved()).isLessThan(1.1);
    assertThat(figures.movedElsewhere()).isZero();
  }
}
