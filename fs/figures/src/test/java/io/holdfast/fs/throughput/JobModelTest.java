package io.holdfast.fs.throughput;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.holdfast.policy.simulator.FetchModel;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

/** Rates that follow from an epoch, and speeds that follow from rates. */
class JobModelTest {
  private static final double MB = 1e6;
  private static final long GB = 1_000_000_000L;

  private static JobModel model(Observation seen, Evidence.Site site) {
    return new JobModel(new Evidence(seen, seen, seen, site));
  }

  private static double speed(JobModel model, Setup with) {
    return model.speed(with).orElseThrow() / MB;
  }

  private static double most(JobModel model, Setup with) {
    return model.most(with).orElseThrow() / MB;
  }

  /** S = 50 and C = 1000 MB/s, so many readers that they hide everything. */
  private static JobModel fiftyAndThousand() {
    // at x = .35 an epoch of 1 GB takes .35/1000 + .65/50 seconds a megabyte
    double seconds = 1000 * (0.35 / 1000 + 0.65 / 50);
    Observation seen = Epochs.of(2).in(seconds).origin(650_000_000, 64 * seconds).by(64, 0).seen();
    return model(seen, new Evidence.Site(64, 1, false, OptionalDouble.of(1000 * MB)));
  }

  @Test
  void fetchRate_atThreeCapacities_isThatOfDsAnalyzer() {
    FetchModel fetch = new FetchModel(50, 1000, 1000, Double.POSITIVE_INFINITY);
    assertThat(fetch.fetchRate(0.35, 0)).isCloseTo(74.9, within(0.05));
    assertThat(fetch.fetchRate(0.5, 0)).isCloseTo(95.2, within(0.05));
    assertThat(fetch.fetchRate(0.65, 0)).isCloseTo(130.7, within(0.05));
    assertThat(new FetchModel(50, 1000, 1000, 200).sufficientHitRatio())
        .isCloseTo(0.789, within(0.0005));
    assertThat(new FetchModel(50, 1000, 1000, 60).sufficientHitRatio())
        .isCloseTo(0.175, within(0.0005));
  }

  @Test
  void originThatAllReadersWaitFor_hasTheRateThatItGave() {
    JobModel model = fiftyAndThousand();
    // what memory took is in the same time
    assertThat(model.rates().origin().orElseThrow() / MB).isCloseTo(50, within(1.5));
    assertThat(model.rates().memory().orElseThrow()).isEqualTo(1000 * MB);
    assertThat(model.rates().preparation()).isEmpty();
    assertThat(model.rates().acceleratorIsLimit()).isFalse();
    assertThat(speed(model, model.setup().withCapacityShare(0.5))).isCloseTo(95.2, within(3.0));
    assertThat(speed(model, model.setup().withCapacityShare(0.65))).isCloseTo(130.7, within(4.0));
  }

  @Test
  void oneReader_isPredictedExactly() {
    // 1 GB: 650 MB at 50 MB/s, then 1 s of a processor for each 75 MB
    double seconds = 650 / 50.0 + 1000 / 75.0;
    Observation seen = Epochs.of(2).in(seconds).origin(650_000_000, 13).by(1, 1000 / 75.0).seen();
    JobModel model = model(seen, Epochs.site(2));
    assertThat(model.rates().origin().orElseThrow() / MB).isCloseTo(50, within(0.01));
    assertThat(model.rates().preparation().orElseThrow() / MB).isCloseTo(75, within(0.01));
    assertThat(speed(model, model.setup())).isCloseTo(1000 / seconds, within(0.01));
    assertThat(speed(model, model.setup().withCapacityShare(0)))
        .isCloseTo(1 / (1 / 50.0 + 1 / 75.0), within(0.01));
    assertThat(speed(model, model.setup().withCapacityShare(1))).isCloseTo(75, within(0.01));
    assertThat(speed(model, model.setup().withReaders(16).withCapacityShare(1)))
        .isCloseTo(150, within(0.1));
  }

  /** The process that analyses may be in a container of one processor, and the job in none. */
  @Test
  void job_thatUsedMoreProcessorsThanTheSiteHas_hasThem() {
    // eight readers, seven of which compute at a time, 25 MB/s each
    Observation seen = Epochs.of(2).in(1000 / 175.0).by(8, 40).seen();
    JobModel model = model(seen, Epochs.site(1));
    assertThat(model.usableProcessors()).isCloseTo(7, within(0.01));
    assertThat(speed(model, model.setup())).isCloseTo(175, within(1.0));
    assertThat(model(seen, Epochs.site(7)).usableProcessors()).isEqualTo(7);
    assertThat(model(seen, Epochs.site(64)).usableProcessors()).isEqualTo(64);
  }

  /** A reader that fetches and prepares in turn gains until nearly all is in memory. */
  @Test
  void knee_ofOneReader_isWhereItIsNearlyAsFastAsItCanBe() {
    double seconds = 650 / 50.0 + 1000 / 75.0;
    Observation seen = Epochs.of(2).in(seconds).origin(650_000_000, 13).by(1, 1000 / 75.0).seen();
    double knee = model(seen, Epochs.site(2)).knee().orElseThrow();
    // (1 - x) / 50 + 1 / 75 = 1 / (.95 * 75)
    assertThat(knee).isCloseTo(1 - 50 * (1 / (0.95 * 75) - 1 / 75.0), within(0.001));
  }

  @Test
  void knee_ofManyReadersWithAnAccelerator_isTheFormulas() {
    // the accelerator takes 60 MB/s: readers rest much
    Observation seen = Epochs.of(2).in(1000 / 60.0).origin(800_000_000, 64 * 4.0).by(64, 1).seen();
    Evidence.Site site = new Evidence.Site(64, 1, false, OptionalDouble.of(1000 * MB));
    Observation cold = Epochs.of(2).in(20).origin(GB, 64 * 20.0).by(64, 0).seen();
    JobModel model = new JobModel(new Evidence(seen, cold, seen, site));
    assertThat(model.rates().acceleratorIsLimit()).isTrue();
    assertThat(model.rates().accelerator().orElseThrow() / MB).isCloseTo(60, within(0.01));
    assertThat(model.rates().origin().orElseThrow() / MB).isCloseTo(50, within(0.01));
    assertThat(model.knee().orElseThrow()).isCloseTo(0.175, within(0.005));
    assertThat(speed(model, model.setup().withCapacityShare(1))).isCloseTo(60, within(0.01));
    assertThat(speed(model, model.setup().withCapacityShare(1).withAcceleratorFactor(2)))
        .isCloseTo(120, within(0.01));
  }

  @Test
  void origin_thatMeetsTheDemand_needsNoMemory() {
    // 2 of 8 processors prepare 20 MB/s each and are always busy; the others are other jobs'
    Observation seen =
        Epochs.of(2).in(25).origin(500_000_000, 1).by(4, 50).waitingForProcessors(49).seen();
    JobModel model = model(seen, Epochs.site(8));
    assertThat(model.rates().preparation().orElseThrow() / MB).isCloseTo(40, within(0.1));
    assertThat(speed(model, model.setup().withCapacityShare(1))).isCloseTo(40, within(0.5));
    assertThat(speed(model, model.setup().withReaders(8))).isCloseTo(40, within(0.5));
    assertThat(model.knee().orElseThrow()).isLessThanOrEqualTo(0.5);
    assertThat(most(model, model.setup().withMoreProcessors(1))).isCloseTo(60, within(1.5));
  }

  /** It gave 20 MB/s, and nobody waited for it: it may give any rate above. */
  @Test
  void origin_thatNobodyWaitsFor_hasNoRate() {
    Observation seen =
        Epochs.of(2).in(25).origin(500_000_000, 1).by(4, 50).waitingForProcessors(49).seen();
    JobModel model = model(seen, Epochs.site(8));
    assertThat(model.rates().origin()).isEmpty();
    assertThat(model.rates().originAtLeast().orElseThrow() / MB).isCloseTo(20, within(0.01));
    Setup without = model.setup().withCapacityShare(0);
    assertThat(model.isAtLeast(without)).isTrue();
    assertThat(speed(model, without)).isCloseTo(20, within(0.01));
    assertThat(most(model, without)).isCloseTo(40, within(0.5));
    assertThat(model.isAtLeast(model.setup())).isFalse();
    assertThat(model.isAtLeast(model.setup().withCapacityShare(0.7))).isFalse();
    assertThat(speed(model, model.setup().withReaders(3))).isCloseTo(40, within(1.0));
  }

  /** The origin gave 20 and 5.6 MB/s to a job that takes 40 MB/s and hardly ever waited. */
  @Test
  void origin_thatNobodyWaitsFor_isTakenForTwiceWhatItGaveAtMost() {
    Epochs half = Epochs.of(2).in(25).bytes(1_000_000_000).by(4, 50).waitingForProcessors(49);
    JobModel busy = model(half.origin(500_000_000, 1).seen(), Epochs.site(8)).withLikelyOrigin();
    assertThat(busy.rates().origin().orElseThrow() / MB).isCloseTo(40, within(0.01));
    // four readers do not keep an origin busy that is as fast as their processors
    assertThat(speed(busy, busy.setup().withCapacityShare(0))).isCloseTo(33.3, within(0.1));

    JobModel idle = model(half.origin(140_000_000, 1).seen(), Epochs.site(8)).withLikelyOrigin();
    assertThat(idle.rates().origin().orElseThrow() / MB).isCloseTo(11.2, within(0.01));
    assertThat(speed(idle, idle.setup())).isCloseTo(40, within(2.0));
    assertThat(speed(idle, idle.setup().withCapacityShare(0.72))).isCloseTo(33.3, within(0.1));
    assertThat(speed(idle, idle.setup().withCapacityShare(0))).isCloseTo(11.2, within(0.01));
  }

  @Test
  void origin_ofFewFetches_hasNoRate() {
    Observation few = Epochs.of(2).in(10).origin(7_000_000, 9).by(1, 1).seen();
    assertThat(model(few, Epochs.site(2)).rates().origin()).isEmpty();
    Observation enough = Epochs.of(2).in(10).origin(8_000_000, 9).by(1, 1).seen();
    assertThat(model(enough, Epochs.site(2)).rates().origin()).isPresent();
    Observation brief = Epochs.of(2).in(0.2).origin(80_000_000, 0.19).by(1, 0.01).seen();
    assertThat(model(brief, Epochs.site(2)).rates().origin()).isEmpty();
  }

  /**
   * An origin behind a limit of 50 MB/s gives what it has saved up to readers that come now and
   * then: this job with half in memory got all that the limit allows, and waited little.
   */
  @Test
  void origin_withALimitThatSavesUp_hasAtLeastWhatItGave() {
    Observation seen =
        Epochs.of(2)
            .in(3.25)
            .bytes(322_957_000)
            .origin(161_478_500, 2.8)
            .by(4, 5.5)
            .waitingForProcessors(4.4)
            .seen();
    Rates rates = model(seen, Epochs.site(2)).rates();
    assertThat(rates.origin()).isEmpty();
    assertThat(rates.originAtLeast().orElseThrow() / MB).isCloseTo(49.7, within(0.1));
  }

  @Test
  void oneReaderThatOnlyPrepares_isHelpedByAnother() {
    Observation seen = Epochs.of(2).in(25).origin(500_000_000, 0.1).by(1, 24.8).seen();
    JobModel model = model(seen, Epochs.site(2));
    assertThat(speed(model, model.setup().withReaders(2))).isCloseTo(40, within(1.0));
    assertThat(model.isAtLeast(model.setup().withReaders(2))).isTrue();
    assertThat(most(model, model.setup().withReaders(2))).isCloseTo(80, within(1.0));
  }

  @Test
  void originThatScales_givesMoreToMoreReaders() {
    // each reader waits 20 ms for each of 1,000 files of a megabyte, and does nothing else
    Observation seen = Epochs.of(2).in(5).origin(GB, 20).by(4, 0.1).seen();
    Evidence.Site site = new Evidence.Site(8, 1, true, OptionalDouble.empty());
    JobModel model = model(seen, site);
    assertThat(speed(model, model.setup())).isCloseTo(199, within(1.0));
    assertThat(speed(model, model.setup().withReaders(8))).isCloseTo(398, within(3.0));
    assertThat(speed(model, model.setup().withOriginFactor(2))).isCloseTo(396, within(3.0));
  }

  @Test
  void originThatIsShared_givesNoMoreToMoreReaders() {
    Observation seen = Epochs.of(2).in(20).origin(GB, 80).by(4, 0.1).seen();
    JobModel model = model(seen, Epochs.site(8));
    assertThat(speed(model, model.setup().withReaders(8))).isCloseTo(50, within(0.5));
    assertThat(speed(model, model.setup().withOriginFactor(2))).isCloseTo(100, within(1.0));
  }

  @Test
  void nodes_bringTheirMemory() {
    // two nodes with a quarter each: half of the hits come from the peer, over a fast network
    Observation seen =
        Epochs.of(2).in(12).origin(500_000_000, 10 * 4).peer(250_000_000, 1).by(4, 0).seen();
    Evidence.Site site = new Evidence.Site(4, 2, false, OptionalDouble.empty());
    JobModel model = model(seen, site);
    assertThat(model.setup().capacityShare()).isCloseTo(0.25, within(1e-9));
    assertThat(model.rates().peer()).isPresent();
    double now = speed(model, model.setup());
    double four = speed(model, model.setup().withNodes(4));
    double half = speed(model, model.setup().withCapacityShare(0.5));
    assertThat(four).isGreaterThan(2 * now);
    assertThat(half).isGreaterThan(four);
    assertThat(model.knee().orElseThrow()).isLessThanOrEqualTo(0.5);
  }

  /**
   * The time that reads wait for a peer was added to the time that the origin takes, which serves
   * other readers meanwhile: a run was predicted to take 1.4 times as long as it did.
   */
  @Test
  void peers_thatReadersWaitForNowAndThen_takeNoTimeOfTheOrigin() {
    // 30 % from an origin of 20 MB/s, which is never idle; a third of the time a read waits for the
    // peer
    Observation seen =
        Epochs.of(2).in(15.6).origin(300_000_000, 50).peer(350_000_000, 6).by(4, 5).seen();
    JobModel model = model(seen, new Evidence.Site(2, 2, false, OptionalDouble.empty()));
    assertThat(speed(model, model.setup())).isCloseTo(1000 / 15.6, within(2.0));
    assertThat(speed(model, model.setup().withCapacityShare(0.2))).isCloseTo(20 / 0.6, within(1.5));
  }

  /** One wire for all readers, which is never idle, is a limit. */
  @Test
  void peers_thatAReadAlwaysWaitsFor_areALimit() {
    Observation seen =
        Epochs.of(2).in(10).origin(10_000_000, 1).peer(700_000_000, 36).by(4, 1).seen();
    JobModel model = model(seen, new Evidence.Site(4, 2, false, OptionalDouble.empty()));
    assertThat(speed(model, model.setup().withReaders(64))).isCloseTo(100, within(5.0));
  }

  @Test
  void withoutCpuTimes_theOriginIsStillTold() {
    Observation seen = Epochs.of(2).in(20).origin(GB, 20).withoutCpu().seen();
    JobModel model = model(seen, Epochs.site(2));
    assertThat(model.rates().preparation()).isEmpty();
    assertThat(model.rates().origin().orElseThrow() / MB).isCloseTo(50, within(0.01));
    assertThat(speed(model, model.setup().withCapacityShare(0.5))).isCloseTo(100, within(0.01));
    assertThat(WhatIf.all(model).stream().map(WhatIf::change))
        .doesNotContain(WhatIf.Change.WORKERS);
  }

  @Test
  void nothingFromTheOrigin_leavesItsRateUnknown() {
    Observation seen = Epochs.of(2).in(10).by(2, 19).seen();
    JobModel model = model(seen, Epochs.site(2));
    assertThat(model.rates().origin()).isEmpty();
    assertThat(model.knee()).isEmpty();
    List<WhatIf> rows =
        WhatIf.all(model).stream().filter(row -> row.change() == WhatIf.Change.CAPACITY).toList();
    assertThat(rows).singleElement().satisfies(row -> assertThat(row.value()).isEqualTo(1));
  }

  @Test
  void figures_thatMakeNoSense_areRefusedOrBounded() {
    Observation nothing = Epochs.of(2).bytes(0).seen();
    assertThatThrownBy(() -> model(nothing, Epochs.site(2)))
        .isInstanceOf(IllegalArgumentException.class);
    Observation more = Epochs.of(2).origin(3 * GB, 1e9).by(3, 1e9).seen();
    JobModel model = model(more, Epochs.site(2));
    assertThat(model.setup().capacityShare()).isZero();
    assertThat(model.rates().origin().orElse(1)).isPositive().isFinite();
    Observation huge =
        Epochs.of(2).in(1e-9).bytes(Long.MAX_VALUE).origin(Long.MAX_VALUE, 1e-9).by(1, 0).seen();
    WhatIf.all(model(huge, Epochs.site(1)))
        .forEach(row -> assertThat(Math.round(row.speed())).isPositive());
  }
}
