package io.holdfast.fs.accelerator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class EpochOrdersTest {
  private static final int FILES = 100;
  private static final List<Integer> ALL = IntStream.range(0, FILES).boxed().toList();

  private static List<Integer> epoch(EpochOrders orders, int epoch) {
    return IntStream.range(0, FILES)
        .mapToObj(i -> orders.fileAt((long) epoch * FILES + i))
        .toList();
  }

  @Test
  void epoch_hasEachFileOnce_inAnOrderOfItsOwn() {
    EpochOrders orders = new EpochOrders(FILES, 7);
    List<List<Integer>> epochs = IntStream.range(0, 20).mapToObj(e -> epoch(orders, e)).toList();
    assertThat(epochs).doesNotHaveDuplicates().doesNotContain(ALL);
    assertThat(epochs).allSatisfy(e -> assertThat(e).containsExactlyInAnyOrderElementsOf(ALL));
    // an epoch that was forgotten in the meantime is the same again
    assertThat(epoch(orders, 0)).isEqualTo(epochs.get(0));
  }

  @Test
  void seed_decidesAll() {
    assertThat(epoch(new EpochOrders(FILES, 7), 3)).isEqualTo(epoch(new EpochOrders(FILES, 7), 3));
    assertThat(epoch(new EpochOrders(FILES, 7), 3))
        .isNotEqualTo(epoch(new EpochOrders(FILES, 8), 3));
  }

  @Test
  void oneFile_isReadAgainAndAgain() {
    EpochOrders orders = new EpochOrders(1, 7);
    assertThat(orders.fileAt(0)).isZero();
    assertThat(orders.fileAt(5_000_000_000L)).isZero();
  }
}
