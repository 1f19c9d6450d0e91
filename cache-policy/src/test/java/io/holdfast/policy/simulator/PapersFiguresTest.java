package io.holdfast.policy.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.holdfast.policy.simulator.Scenario.Cluster;
import io.holdfast.policy.simulator.Scenario.Coordination;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The figures that theory and the CoorDL paper give, from the simulator. */
final class PapersFiguresTest {
  private static final int ITEMS = 2_000;
  private static final long SIZE = 105_000;
  private static final int EPOCHS = 16;

  /** Epochs after which policies that replace have settled. */
  private static final int SETTLED = 8;

  private static final int SEEDS = 3;
  private static final Dataset DATASET = Dataset.ofEqualSizes(ITEMS, SIZE);

  private static double settledHitRatio(String policy, AccessOrder order, double c) {
    double sum = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
      sum +=
          run(Scenario.of(DATASET, order, EPOCHS, seed), policy, c).epochs().stream()
              .filter(epoch -> epoch.epoch() > SETTLED)
              .mapToDouble(Run.Epoch::hitRatio)
              .average()
              .orElseThrow();
    }
    return sum / SEEDS;
  }

  private static Run run(Scenario scenario, String policy, double c) {
    return Simulator.run(scenario, policy, scenario.dataset().capacity(c), Progress.NONE);
  }

  @ParameterizedTest(name = "c = {0}")
  @CsvSource({
    ".25, .034, .037, .071",
    ".35, .070, .081, .141",
    ".50, .153, .191, .283",
    ".65, .283, .400, .464",
    ".80, .478, .655, .679"
  })
  void permutations_hitRatios_areThoseOfTheory(double c, double lru, double fifo, double random) {
    AccessOrder shuffle = AccessOrder.shuffle(ITEMS);
    assertThat(settledHitRatio("lru", shuffle, c))
        .isEqualTo(lru, within(0.01))
        .isEqualTo(c + (1 - c) * Math.log(1 - c), within(0.01));
    assertThat(settledHitRatio("fifo", shuffle, c)).isEqualTo(fifo, within(0.01));
    assertThat(settledHitRatio("random", shuffle, c)).isEqualTo(random, within(0.01));
    assertThat(settledHitRatio("unbounded", shuffle, c)).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(doubles = {.25, .35, .50, .65, .80})
  void permutations_minio_hitsExactlyWhatFits(double c) {
    for (String policy : List.of("minio", "minio-hash")) {
      List<Run.Epoch> epochs =
          run(Scenario.of(DATASET, AccessOrder.shuffle(ITEMS), 4, 7), policy, c).epochs();
      assertThat(epochs).extracting(Run.Epoch::hits).startsWith(0L);
      assertThat(epochs.subList(1, 4))
          .as(policy)
          .allSatisfy(epoch -> assertThat(epoch.hits()).isEqualTo(Math.round(c * ITEMS)));
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {.25, .35, .50, .65, .80})
  void permutations_belady_isNoBetterThanMinio(double c) {
    assertThat(settledHitRatio("belady", AccessOrder.shuffle(ITEMS), c)).isEqualTo(c, within(1e-9));
  }

  /** The paper: 85 % fetched at 35 %; 53 % misses at 65 %. */
  @ParameterizedTest
  @CsvSource({".35, .15", ".65, .47"})
  void permutations_linux_hitsWhatThePaperMeasured(double c, double hits) {
    assertThat(settledHitRatio("linux", AccessOrder.shuffle(ITEMS), c))
        .isEqualTo(hits, within(0.03));
  }

  @Test
  void cyclicScan_lruHitsNothingAndMinioWhatFits() {
    AccessOrder scan = AccessOrder.sequential(ITEMS);
    assertThat(settledHitRatio("lru", scan, .35)).isZero();
    assertThat(settledHitRatio("linux", scan, .35)).isZero();
    assertThat(settledHitRatio("minio", scan, .35)).isEqualTo(.35, within(1e-9));
    assertThat(settledHitRatio("belady", scan, .35)).isEqualTo(.35, within(1e-9));
  }

  @Test
  void onePass_nothingIsReadTwice() {
    Run run = run(Scenario.of(DATASET, AccessOrder.onePass(ITEMS, 4), 4, 1), "minio", .5);
    assertThat(run.epochs()).extracting(Run.Epoch::accesses).containsOnly(500L);
    assertThat(run.epochs()).extracting(Run.Epoch::hits).containsOnly(0L);
  }

  @Test
  void skewed_tinylfuBeatsMinioAndMinioBeatsItOnPermutations() {
    AccessOrder skewed = AccessOrder.skewed(ITEMS, 0.9, 1);
    assertThat(settledHitRatio("tinylfu", skewed, .25))
        .isGreaterThan(settledHitRatio("minio", skewed, .25) + 0.05);
    AccessOrder shuffle = AccessOrder.shuffle(ITEMS);
    assertThat(settledHitRatio("tinylfu", shuffle, .35)).isLessThan(0.35);
  }

  @ParameterizedTest(name = "{0} nodes, c = {1}")
  @CsvSource({
    "2, .10", "2, .25", "2, .35", "2, .50", "4, .10", "4, .25", "4, .35", "8, .10", "8, .125",
    "8, .35"
  })
  void peers_originBytes_areWhatAllOfThemLack(int nodes, double c) {
    Run.Epoch later = cluster(nodes, c, Coordination.PEERS).epochs().get(2);
    Run.Epoch first = cluster(nodes, c, Coordination.PEERS).epochs().get(0);
    long dataset = large().bytes();
    assertThat((double) first.originBytes() / dataset).isEqualTo(1);
    assertThat((double) later.originBytes() / dataset)
        .isEqualTo(Math.max(0, 1 - nodes * c), within(0.02));
    double local = Math.min(c, 1.0 / nodes);
    assertThat(later.byteHitRatio()).isEqualTo(local, within(0.02));
    assertThat(later.peerShare()).isEqualTo((nodes - 1) * local, within(0.02));
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8})
  void nodesThatKnowNothingOfEachOther_readForThemselves(int nodes) {
    Run.Epoch later = cluster(nodes, .35, Coordination.NONE).epochs().get(2);
    assertThat((double) later.originBytes() / large().bytes())
        .isEqualTo(nodes * (1 - .35), within(0.02));
    assertThat(later.peerBytes()).isZero();
  }

  @Test
  void nodesThatShareTheReadingOnly_hitAsOneDoes() {
    assertThat(cluster(2, .35, Coordination.SHARDS).epochs().get(2).originShare())
        .isEqualTo(1 - .35, within(0.02));
  }

  /**
   * The most reads that a node can answer from its own memory if it keeps only what it reads. A
   * read that comes k epochs after the node's last one takes room at k beginnings of epochs. The
   * share of such reads is (1 - 1/N)^(k - 1) / N, and the nodes have room for N c at each
   * beginning: the nearest reads take it first.
   */
  private static double mostLocal(int nodes, double c) {
    double room = nodes * c;
    double local = 0;
    double share = 1.0 / nodes;
    for (int k = 1; k <= 1_000; k++) {
      double hits = Math.min(share, room / k);
      local += hits;
      room -= k * hits;
      share *= 1 - 1.0 / nodes;
    }
    return local;
  }

  /**
   * Means of the later 32 of 48 epochs: hits of single epochs go up and down, with long periods.
   */
  private static Run.Epoch settledCluster(String policy, int nodes, double c) {
    Cluster cluster =
        new Cluster(nodes, Coordination.KNOWN, hash -> (int) Long.remainderUnsigned(hash, nodes));
    Scenario scenario = Scenario.of(DATASET, AccessOrder.known(ITEMS), 48, 1).on(cluster);
    List<Run.Epoch> settled = run(scenario, policy, c).epochs().subList(16, 48);
    return new Run.Epoch(
        0,
        settled.stream().mapToLong(Run.Epoch::accesses).sum(),
        settled.stream().mapToLong(Run.Epoch::hits).sum(),
        settled.stream().mapToLong(Run.Epoch::memoryBytes).sum(),
        settled.stream().mapToLong(Run.Epoch::peerBytes).sum(),
        settled.stream().mapToLong(Run.Epoch::originBytes).sum(),
        settled.stream().mapToLong(Run.Epoch::pushedBytes).sum());
  }

  /**
   * 64,000 reads have a standard deviation of .002. The theory has as much room at each beginning
   * as on average; the test allows four deviations and, below, as much again for room that is
   * missing at one beginning and left over at another.
   */
  @ParameterizedTest
  @CsvSource({"2, .60", "4, .66", "8, .69"})
  void knownOrders_beladyOfEachNode_hitsWhatTheoryGives(int nodes, double rounded) {
    double theory = mostLocal(nodes, .35);
    assertThat(theory).isEqualTo(rounded, within(.01));
    Run.Epoch belady = settledCluster("belady", nodes, .35);
    assertThat(belady.hitRatio()).isBetween(theory - .016, theory + .008);
    assertThat(belady.movedShare()).isZero();
  }

  /** The figures of POLICIES.md: MinIO's bytes of the origin, near Belady's local hits. */
  @ParameterizedTest(name = "{0} nodes, c = {1}")
  @CsvSource({
    "2, .10", "2, .20", "2, .35", "2, .65", "2, .90", "4, .10", "4, .20", "4, .35", "4, .65",
    "4, .90", "8, .10", "8, .20", "8, .35", "8, .65", "8, .90"
  })
  void knownOrders_cooperative_movesLessThanMinioAndReadsNoMore(int nodes, double c) {
    Run.Epoch minio = settledCluster("minio", nodes, c);
    Run.Epoch cooperative = settledCluster("cooperative", nodes, c);
    assertThat(cooperative.originShare()).isEqualTo(Math.max(0, 1 - nodes * c), within(1e-9));
    assertThat(cooperative.movedShare()).isLessThan(.75 * minio.movedShare());
    assertThat(cooperative.hitRatio()).isGreaterThan(mostLocal(nodes, c) - .08);
  }

  private static Dataset large() {
    return Dataset.ofEqualSizes(20_000, SIZE);
  }

  private static Run cluster(int nodes, double c, Coordination coordination) {
    // what a rendezvous over equal nodes gives: a uniform choice by hash
    Cluster cluster =
        new Cluster(nodes, coordination, hash -> (int) Long.remainderUnsigned(hash, nodes));
    Scenario scenario = Scenario.of(large(), AccessOrder.shuffle(20_000), 3, 1).on(cluster);
    return run(scenario, "minio", c);
  }

  @Test
  void eightJobs_sharedOrder_isWhatHelps() {
    assertThat(jobs("minio", false)).isEqualTo(5.2, within(1e-9));
    assertThat(jobs("minio", true)).isEqualTo(0.65, within(1e-9));
    assertThat(jobs("lru", false)).isEqualTo(5.47, within(0.05));
  }

  /** Read from the origin in an epoch of eight jobs at c = .35, in datasets. */
  private static double jobs(String policy, boolean sharedOrder) {
    Scenario scenario = Scenario.of(DATASET, AccessOrder.shuffle(ITEMS), 8, 1).by(8, sharedOrder);
    return run(scenario, policy, .35).epochs().subList(4, 8).stream()
        .mapToDouble(epoch -> (double) epoch.originBytes() / DATASET.bytes())
        .average()
        .orElseThrow();
  }

  /** The figures of DS-Analyzer's and Synergy's examples: S = 50, C = 1000 MB/s. */
  @ParameterizedTest
  @CsvSource({".35, 74.9", ".50, 95.2", ".65, 130.7"})
  void fetchModel_rates_areThePapers(double share, double rate) {
    FetchModel model = new FetchModel(50e6, 1000e6, 1000e6, 1e12);
    assertThat(model.fetchRate(share, 0) / 1e6).isEqualTo(rate, within(0.05));
  }

  @ParameterizedTest
  @CsvSource({"200, .789", "60, .175", "50, 0", "40, 0", "1000, 1", "2000, 1"})
  void fetchModel_sufficientHitRatio_isThePapers(double demand, double share) {
    FetchModel model = new FetchModel(50e6, 1000e6, 1000e6, demand * 1e6);
    assertThat(model.sufficientHitRatio()).isEqualTo(share, within(0.0005));
  }

  @Test
  void fetchModel_epoch_takesItsBytesOverTheLowerOfBothRates() {
    FetchModel fetching = new FetchModel(50, 1000, 500, 1e9);
    FetchModel computing = new FetchModel(50, 1000, 500, 60);
    Run.Epoch epoch = new Run.Epoch(2, 10, 5, 5_000, 2_500, 2_500, 0);
    assertThat(fetching.speed(0.5, 0.25)).isEqualTo(1 / (.5 / 1000 + .25 / 500 + .25 / 50));
    assertThat(fetching.seconds(epoch)).isEqualTo(5_000.0 / 1000 + 2_500.0 / 500 + 2_500.0 / 50);
    assertThat(computing.seconds(epoch)).isEqualTo(10_000.0 / 60);
  }
}
