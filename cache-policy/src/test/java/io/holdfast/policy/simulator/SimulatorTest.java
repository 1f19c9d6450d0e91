package io.holdfast.policy.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.holdfast.policy.ItemHash;
import io.holdfast.policy.simulator.Scenario.Cluster;
import io.holdfast.policy.simulator.Scenario.Coordination;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Datasets, orders, and what the simulator makes of them. */
final class SimulatorTest {
  private static final long PAGE = 4096;

  /** All but Caffeine's, which breaks ties by a random of its own, and the one for known orders. */
  static List<String> deterministic() {
    return Simulator.policies().stream()
        .filter(name -> !List.of("tinylfu", Simulator.COOPERATIVE).contains(name))
        .toList();
  }

  @ParameterizedTest
  @MethodSource("deterministic")
  void run_sameScenario_sameFigures(String policy) {
    Dataset dataset = Dataset.ofLognormalSizes(300, 20_000, 0.5, 3);
    Cluster cluster = new Cluster(3, Coordination.PEERS, hash -> (int) (hash & 1));
    Scenario scenario =
        Scenario.of(dataset, AccessOrder.skewed(300, 0.7, 9), 3, 5).on(cluster).by(2, false);
    Run one = Simulator.run(scenario, policy, dataset.capacity(.2), Progress.NONE);
    Run two = Simulator.run(scenario, policy, dataset.capacity(.2), Progress.NONE);
    assertThat(one).isEqualTo(two);
    assertThat(one.policy()).isEqualTo(policy);
    assertThat(one.epochs()).hasSize(3);
    assertThat(one.epochs())
        .allSatisfy(
            epoch -> {
              assertThat(epoch.accesses()).isEqualTo(600);
              assertThat(epoch.bytes())
                  .isEqualTo(epoch.memoryBytes() + epoch.peerBytes() + epoch.originBytes());
            });
  }

  @Test
  void run_figures_areCountedByItemAndByByte() {
    Dataset dataset = Dataset.of(new long[] {10, 5_000, 100}, new long[] {1, 2, 3});
    AccessOrder order = AccessOrder.recorded(List.of(new int[] {0, 1, 0, 2}, new int[] {1, 2}));
    Run run = Simulator.run(Scenario.of(dataset, order, 2, 1), "minio", 3 * PAGE, Progress.NONE);
    assertThat(run.epochs())
        .containsExactly(
            new Run.Epoch(1, 4, 1, 10, 0, 5_110, 0), new Run.Epoch(2, 2, 1, 5_000, 0, 100, 0));
    assertThat(run.epochs().get(0).hitRatio()).isEqualTo(0.25);
    assertThat(run.epochs().get(1).byteHitRatio()).isEqualTo(5_000 / 5_100.0);
    assertThat(run.epochs().get(1).originShare()).isEqualTo(100 / 5_100.0);
    assertThat(run.laterHitRatio()).isEqualTo(0.5);
    assertThat(new Run.Epoch(1, 0, 0, 0, 0, 0, 0))
        .returns(0.0, Run.Epoch::hitRatio)
        .returns(0.0, Run.Epoch::byteHitRatio);
  }

  @Test
  void run_oneEpoch_isItsOwnHitRatio() {
    Dataset dataset = Dataset.ofEqualSizes(2, 1);
    AccessOrder order = AccessOrder.recorded(List.of(new int[] {0, 0, 0, 1}));
    Run run = Simulator.run(Scenario.of(dataset, order, 1, 1), "minio", 9_999, Progress.NONE);
    assertThat(run.laterHitRatio()).isEqualTo(0.5);
  }

  /** Jobs in step share a fetch, even of items that are not admitted. */
  @Test
  void run_jobsInStep_oneFetchesForAll() {
    Dataset dataset = Dataset.ofEqualSizes(10, PAGE);
    Scenario scenario = Scenario.of(dataset, AccessOrder.sequential(10), 1, 1).by(4, true);
    Run.Epoch epoch = Simulator.run(scenario, "none", 1, Progress.NONE).epochs().get(0);
    assertThat(epoch).isEqualTo(new Run.Epoch(1, 40, 30, 30 * PAGE, 0, 10 * PAGE, 0));
  }

  @Test
  void run_progress_isToldOfWholeSteps() {
    Dataset dataset = Dataset.ofEqualSizes(100_000, 1);
    List<Long> told = new ArrayList<>();
    Simulator.run(
        Scenario.of(dataset, AccessOrder.sequential(100_000), 2, 1), "minio", PAGE, told::add);
    assertThat(told).containsExactly(65_536L, 65_536L, 65_536L);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1})
  void run_noCapacity_isRefused(long capacity) {
    Scenario scenario = Scenario.of(Dataset.ofEqualSizes(1, 1), AccessOrder.sequential(1), 1, 1);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Simulator.run(scenario, "minio", capacity, Progress.NONE))
        .withMessage("the capacity must be above 0: " + capacity);
  }

  @Test
  void run_unknownPolicy_isRefused() {
    Scenario scenario = Scenario.of(Dataset.ofEqualSizes(1, 1), AccessOrder.sequential(1), 1, 1);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Simulator.run(scenario, "mru", 1, Progress.NONE))
        .withMessageStartingWith("unknown policy 'mru': one of minio, ");
  }

  @Test
  void run_cooperativeWithoutKnownOrders_isRefused() {
    Scenario scenario = Scenario.of(Dataset.ofEqualSizes(1, 1), AccessOrder.sequential(1), 1, 1);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Simulator.run(scenario, "cooperative", 1, Progress.NONE))
        .withMessage("cooperative needs nodes that know the orders");
  }

  @Test
  void scenario_numbersThatMakeNoSense_areRefused() {
    Dataset dataset = Dataset.ofEqualSizes(3, 1);
    AccessOrder order = AccessOrder.sequential(3);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Scenario.of(dataset, order, 0, 1))
        .withMessage("there is at least 1 epoch, not 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Scenario.of(dataset, order, 1, 1).by(0, true))
        .withMessage("there is at least 1 job, not 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Cluster(0, Coordination.PEERS, hash -> 0))
        .withMessage("there is at least 1 node, not 0");
    Cluster four = new Cluster(4, Coordination.PEERS, hash -> 0);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Scenario.of(dataset, order, 1, 1).on(four))
        .withMessage("more nodes than items: 4 nodes, 3 items");
    Cluster three = new Cluster(3, Coordination.PEERS, hash -> 0);
    assertThat(Scenario.of(dataset, order, 1, 1).on(three).cluster()).isSameAs(three);
  }

  @Test
  void fetchModel_ratesThatMakeNoSense_areRefused() {
    for (double bad : new double[] {0, -1, Double.NaN}) {
      assertThatIllegalArgumentException().isThrownBy(() -> new FetchModel(bad, 1, 1, 1));
      assertThatIllegalArgumentException().isThrownBy(() -> new FetchModel(1, bad, 1, 1));
      assertThatIllegalArgumentException().isThrownBy(() -> new FetchModel(1, 1, bad, 1));
      assertThatIllegalArgumentException().isThrownBy(() -> new FetchModel(1, 1, 1, bad));
    }
  }

  // datasets

  @Test
  void dataset_equalSizes_weighWholePages() {
    Dataset dataset = Dataset.ofEqualSizes(2_000, 105_000);
    assertThat(dataset.items()).isEqualTo(2_000);
    assertThat(dataset.bytes()).isEqualTo(210_000_000);
    assertThat(dataset.weight(5)).isEqualTo(26 * PAGE);
    assertThat(dataset.weight()).isEqualTo(2_000 * 26 * PAGE);
    assertThat(dataset.size(5)).isEqualTo(105_000);
    assertThat(dataset.hash(5)).isEqualTo(ItemHash.of(5));
    assertThat(Dataset.ofEqualSizes(1, PAGE).weight()).isEqualTo(PAGE);
    assertThat(Dataset.ofEqualSizes(1, PAGE + 1).weight()).isEqualTo(2 * PAGE);
  }

  /** 0.35 of 2,000 is 700, though the floating-point product is a little less. */
  @Test
  void dataset_capacity_isWholeItemsWhereTheyAreEqual() {
    Dataset dataset = Dataset.ofEqualSizes(2_000, 105_000);
    for (int percent = 1; percent <= 100; percent++) {
      assertThat(dataset.capacity(percent / 100.0)).isEqualTo(percent * 20L * 26 * PAGE);
    }
    Dataset mixed = Dataset.of(new long[] {1, PAGE + 1}, new long[2]);
    assertThat(mixed.capacity(0.5)).isEqualTo(3 * PAGE / 2);
  }

  @Test
  void dataset_lognormal_hasItsMeanAndSpread() {
    Dataset dataset = Dataset.ofLognormalSizes(50_000, 105_000, 0.5, 1);
    double[] logs =
        IntStream.range(0, 50_000)
            .mapToDouble(item -> Math.log((double) dataset.size(item)))
            .toArray();
    double mean = Arrays.stream(logs).average().orElseThrow();
    double variance =
        Arrays.stream(logs).map(log -> (log - mean) * (log - mean)).average().orElseThrow();
    assertThat(dataset.bytes() / 50_000.0).isEqualTo(105_000, within(1_500.0));
    assertThat(Math.sqrt(variance)).isEqualTo(0.5, within(0.01));
    assertThat(mean).isEqualTo(Math.log(105_000) - 0.125, within(0.01));
    assertThat(Dataset.ofLognormalSizes(9, 1, 3, 1).size(4)).isPositive();
    assertThat(Dataset.ofLognormalSizes(9, 77, 0, 1).bytes()).isEqualTo(9 * 77);
    assertThat(Dataset.ofLognormalSizes(9, 77_000, 1, 1).bytes())
        .isEqualTo(Dataset.ofLognormalSizes(9, 77_000, 1, 1).bytes())
        .isNotEqualTo(Dataset.ofLognormalSizes(9, 77_000, 1, 2).bytes());
  }

  @Test
  void dataset_sizesThatMakeNoSense_areRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Dataset.ofEqualSizes(0, 5))
        .withMessage("a dataset needs at least one item, not 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Dataset.of(new long[] {4, 0}, new long[2]))
        .withMessage("item 1 has 0 bytes; an item has at least 1");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Dataset.ofEqualSizes(2, Long.MAX_VALUE))
        .withMessage("the dataset has more than 2^63 bytes");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Dataset.of(new long[3], new long[2]))
        .withMessage("3 sizes, 2 hashes");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Dataset.ofLognormalSizes(2, 0, 1, 1))
        .withMessage("the mean size must be at least 1: 0");
    for (double sigma : new double[] {-0.1, Double.NaN}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> Dataset.ofLognormalSizes(2, 5, sigma, 1))
          .withMessage("sigma must be at least 0: " + sigma);
    }
  }

  // orders

  private static int[] epoch(AccessOrder order, int epoch, long seed) {
    return order.epoch(epoch, new SplittableRandom(seed));
  }

  private static int[] identity(int items) {
    return IntStream.range(0, items).toArray();
  }

  @Test
  void shuffle_isAPermutationOfItsOwnForEveryRandom() {
    AccessOrder order = AccessOrder.shuffle(1_000);
    int[] one = epoch(order, 1, 1);
    assertThat(one).isEqualTo(epoch(order, 2, 1)).isNotEqualTo(epoch(order, 1, 2));
    assertThat(one).containsExactlyInAnyOrder(identity(1_000));
    assertThat(order.name()).isEqualTo("shuffle");
  }

  /** Every item is as likely at every place. */
  @Test
  void shuffle_isUniform() {
    int[][] counts = new int[4][4];
    for (int seed = 0; seed < 8_000; seed++) {
      int[] order = epoch(AccessOrder.shuffle(4), 1, seed);
      for (int place = 0; place < 4; place++) {
        counts[place][order[place]]++;
      }
    }
    // 2,000 each, standard deviation 39: five of them
    for (int[] place : counts) {
      assertThat(place)
          .satisfies(each -> assertThat(IntStream.of(each)).allMatch(SimulatorTest::isNear));
    }
  }

  private static boolean isNear(int count) {
    return Math.abs(count - 2_000) < 195;
  }

  @Test
  void sequential_isTheSameScan() {
    assertThat(epoch(AccessOrder.sequential(5), 3, 9)).containsExactly(0, 1, 2, 3, 4);
  }

  @Test
  void window_readsNothingMoreThanItsBufferAhead() {
    int[] order = epoch(AccessOrder.window(1_000, 10), 1, 5);
    assertThat(order).containsExactlyInAnyOrder(identity(1_000)).isNotEqualTo(identity(1_000));
    for (int i = 0; i < order.length; i++) {
      assertThat(order[i]).isLessThan(i + 10);
    }
    assertThat(epoch(AccessOrder.window(1_000, 1), 1, 5)).isEqualTo(identity(1_000));
    assertThat(epoch(AccessOrder.window(5, 99), 1, 5)).containsExactlyInAnyOrder(identity(5));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> AccessOrder.window(5, 0))
        .withMessage("a shuffle buffer holds at least 1 item, not 0");
  }

  @Test
  void skewed_followsZipf() {
    AccessOrder order = AccessOrder.skewed(1_000, 1, 3);
    int[] counts = new int[1_000];
    for (int seed = 0; seed < 400; seed++) {
      for (int item : epoch(order, 1, seed)) {
        counts[item]++;
      }
    }
    Arrays.sort(counts);
    double harmonic = IntStream.rangeClosed(1, 1_000).mapToDouble(rank -> 1.0 / rank).sum();
    // 400,000 draws: the first item's share is 13.4 %, and the second's half of it
    assertThat(counts[999] / 400_000.0).isEqualTo(1 / harmonic, within(0.003));
    assertThat(counts[998] / 400_000.0).isEqualTo(1 / harmonic / 2, within(0.003));
    assertThat(counts[997] / 400_000.0).isEqualTo(1 / harmonic / 3, within(0.003));
    assertThat(counts[0]).isPositive();
  }

  @Test
  void skewed_exponentZero_isUniform() {
    AccessOrder order = AccessOrder.skewed(10, 0, 3);
    int[] counts = new int[10];
    for (int seed = 0; seed < 10_000; seed++) {
      for (int item : epoch(order, 1, seed)) {
        counts[item]++;
      }
    }
    assertThat(IntStream.of(counts)).allMatch(count -> Math.abs(count - 10_000) < 500);
    for (double skew : new double[] {-1, Double.NaN}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> AccessOrder.skewed(10, skew, 3))
          .withMessage("the skew must be at least 0: " + skew);
    }
  }

  @Test
  void onePass_dealsTheDatasetOutToTheEpochs() {
    AccessOrder order = AccessOrder.onePass(10, 3);
    assertThat(epoch(order, 1, 1)).containsExactly(0, 1, 2);
    assertThat(epoch(order, 2, 1)).containsExactly(3, 4, 5);
    assertThat(epoch(order, 3, 1)).containsExactly(6, 7, 8, 9);
  }

  @Test
  void orders_sayTheirNames() {
    assertThat(AccessOrder.sequential(1).name()).isEqualTo("sequential");
    assertThat(AccessOrder.window(1, 1).name()).isEqualTo("window");
    assertThat(AccessOrder.skewed(1, 1, 1).name()).isEqualTo("skewed");
    assertThat(AccessOrder.onePass(1, 1).name()).isEqualTo("one-pass");
    assertThat(AccessOrder.recorded(List.of()).name()).isEqualTo("recorded");
  }
}
