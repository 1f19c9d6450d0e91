package io.holdfast.fs.figures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.holdfast.fs.figures.EpochSplit.Finding;
import io.holdfast.fs.figures.JobsFigures.Epoch;
import io.holdfast.fs.figures.JobsFigures.Split;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class EpochSplitTest {
  private static final double EXACT = 1e-9;

  /** An epoch of 1000 opens; times in seconds. */
  private static Epoch epoch(
      double origin, double peer, double cpu, double readerCpu, double runDelay, double readers) {
    OptionalDouble none = OptionalDouble.empty();
    return epoch(60, origin, peer, none, cpu, readerCpu, runDelay, readers, none, none);
  }

  /** The same on processors, some of which had nothing to do; an older daemon tells so much. */
  private static Epoch on(Epoch epoch, double processors, double idle) {
    return on(epoch, processors, idle, OptionalDouble.empty());
  }

  /** The same, of which a read waited for so much of the time. There are two processors. */
  private static Epoch on(Epoch epoch, double processors, double idle, double fetching) {
    return on(epoch, processors, idle, OptionalDouble.of(processors / 2 * fetching));
  }

  private static Epoch on(Epoch epoch, double processors, double idle, OptionalDouble fetching) {
    return epoch(
        processors / 2,
        epoch.originStallSeconds(),
        epoch.peerStallSeconds(),
        fetching,
        epoch.cpuSeconds().orElseThrow(),
        epoch.readerCpuSeconds().orElseThrow(),
        epoch.runDelaySeconds().orElseThrow(),
        epoch.readerSeconds().orElseThrow(),
        OptionalDouble.of(processors),
        OptionalDouble.of(idle));
  }

  private static Epoch epoch(
      double seconds,
      double origin,
      double peer,
      OptionalDouble fetching,
      double cpu,
      double readerCpu,
      double runDelay,
      double readers,
      OptionalDouble processors,
      OptionalDouble idle) {
    return new Epoch(
        3,
        1000,
        500,
        OptionalDouble.empty(),
        origin + peer,
        seconds,
        1 << 20,
        1 << 19,
        0,
        origin,
        peer,
        fetching,
        OptionalDouble.of(cpu),
        OptionalDouble.of(readerCpu),
        OptionalDouble.of(runDelay),
        OptionalDouble.of(readers),
        processors,
        idle,
        4,
        Optional.empty());
  }

  private static Epoch with(OptionalDouble cpu, OptionalDouble readers, long opens) {
    return new Epoch(
        1,
        opens,
        0,
        cpu,
        0,
        60,
        0,
        0,
        0,
        1,
        0,
        OptionalDouble.empty(),
        cpu,
        cpu,
        cpu,
        readers,
        cpu,
        cpu,
        4,
        Optional.empty());
  }

  @Test
  void seconds_ofReadersThatAreBlockedAndWork_areThoseOfEach() {
    assertThat(EpochSplit.seconds(epoch(40, 20, 25, 25, 5, 100)))
        .hasValue(new Split(40, 20, 30, 10));
    assertThat(EpochSplit.shares(epoch(40, 20, 25, 25, 5, 100)))
        .hasValue(new Split(0.4, 0.2, 0.3, 0.1));
  }

  /** A reader hands its bytes to threads of its process, and waits for them. */
  @Test
  void seconds_otherThreadsWorkWhileAReaderRests_arePreparation() {
    assertThat(EpochSplit.seconds(epoch(10, 0, 75, 5, 0, 100))).hasValue(new Split(10, 0, 75, 15));
    assertThat(EpochSplit.seconds(epoch(10, 0, 400, 5, 0, 100))).hasValue(new Split(10, 0, 90, 0));
  }

  /** The kernel reads ahead for a thread that works meanwhile: it is not blocked. */
  @Test
  void seconds_aReaderWorksWhileTheKernelReadsAhead_areWork() {
    Split split = EpochSplit.seconds(epoch(60, 20, 50, 50, 0, 100)).orElseThrow();
    assertThat(split.preparation()).isEqualTo(50);
    assertThat(split.fetchOrigin()).isCloseTo(37.5, within(EXACT));
    assertThat(split.fetchPeer()).isCloseTo(12.5, within(EXACT));
    assertThat(split.backPressure()).isZero();
  }

  /** The stall is counted to this moment, and the readers' time to the last look. */
  @Test
  void seconds_moreStallThanTime_makeTheTimeLonger() {
    assertThat(EpochSplit.seconds(epoch(12, 0, 1, 1, 0, 10))).hasValue(new Split(11, 0, 1, 0));
  }

  @Test
  void seconds_withoutTimesOfTheKernel_areUnknown() {
    OptionalDouble none = OptionalDouble.empty();
    assertThat(EpochSplit.seconds(with(none, OptionalDouble.of(5), 100))).isEmpty();
    assertThat(EpochSplit.seconds(with(OptionalDouble.of(5), none, 100))).isEmpty();
    assertThat(EpochSplit.finding(with(none, OptionalDouble.of(5), 100)).verdict())
        .isEqualTo(Bottleneck.UNKNOWN);
  }

  /** An older daemon tells no CPU time of the readers alone, nor for how long they waited. */
  @Test
  void seconds_withCpuTimeOfProcessesAlone_takeItAsThatOfTheReaders() {
    Epoch all = epoch(40, 0, 50, 0, 0, 100);
    Epoch some =
        new Epoch(
            3,
            1000,
            500,
            OptionalDouble.empty(),
            40,
            60,
            0,
            0,
            0,
            40,
            0,
            OptionalDouble.empty(),
            all.cpuSeconds(),
            OptionalDouble.empty(),
            OptionalDouble.empty(),
            all.readerSeconds(),
            OptionalDouble.empty(),
            OptionalDouble.empty(),
            4,
            Optional.empty());
    assertThat(EpochSplit.seconds(some)).hasValue(new Split(40, 0, 50, 10));
  }

  @Test
  void shares_ofAnyTimes_addUpToOne() {
    Random random = new Random(7);
    for (int i = 0; i < 10_000; i++) {
      Epoch any =
          epoch(
              random.nextDouble() * 10,
              random.nextInt(2) * random.nextDouble(),
              random.nextDouble() * 20,
              random.nextDouble() * 10,
              random.nextDouble() * 5,
              random.nextDouble() * 20);
      Split shares = EpochSplit.shares(any).orElseThrow();
      assertThat(shares.sum()).isCloseTo(1, within(EXACT));
      assertThat(
              Math.min(
                  Math.min(shares.fetchOrigin(), shares.fetchPeer()),
                  Math.min(shares.preparation(), shares.backPressure())))
          .isNotNegative();
      double seconds = EpochSplit.seconds(any).orElseThrow().sum();
      double stall = any.originStallSeconds() + any.peerStallSeconds();
      assertThat(seconds)
          .isCloseTo(Math.max(stall, any.readerSeconds().orElseThrow()), within(EXACT));
    }
  }

  @Test
  void shares_ofNoTime_areUnknown() {
    assertThat(EpochSplit.shares(epoch(0, 0, 0, 0, 0, 0))).isEmpty();
  }

  @Test
  void finding_namesTheBottleneck() {
    assertThat(EpochSplit.finding(epoch(50, 20, 25, 25, 0, 100)))
        .isEqualTo(
            new Finding(
                Bottleneck.STORAGE,
                "its readers are blocked by fetches 70 % of their time, and work 25 %"));
    assertThat(EpochSplit.finding(epoch(20, 0, 60, 60, 12, 100)))
        .isEqualTo(
            new Finding(
                Bottleneck.PREPARATION,
                "its readers work, or wait for a processor, 72 % of their time, and are blocked by"
                    + " fetches 20 %"));
  }

  /** Eight readers that are blocked most of the time may starve nothing. */
  @Test
  void finding_withNotableBackPressure_isTheAccelerator() {
    assertThat(EpochSplit.finding(epoch(70, 0, 9, 9, 0, 100)))
        .isEqualTo(
            new Finding(
                Bottleneck.ACCELERATOR,
                "its readers wait 21 % of their time until somebody takes what they have read"));
    assertThat(EpochSplit.finding(epoch(70, 0, 11, 11, 0, 100)).verdict())
        .isEqualTo(Bottleneck.STORAGE);
  }

  /**
   * Four readers on two processors, an origin of 50 MB/s behind a limit, 35 and 50 % in memory, as
   * ANALYZE.md measures it: the origin gave all that it can, and a third of their time the readers
   * waited for one another. The readers' times were recorded. The machine's idle time is less than
   * what they left of the processors, a third, because the daemon took some of that.
   */
  @Test
  void finding_readersThatRunAtTheSameMoments_waitForStorage() {
    Epoch third = epoch(5.567, 0, 5.53, 5.536, 5.646, 17.031);
    assertThat(EpochSplit.finding(third).verdict()).isEqualTo(Bottleneck.PREPARATION);
    Finding storage =
        new Finding(
            Bottleneck.STORAGE,
            "its readers are blocked by fetches 33 % of their time, work 32 %, and wait for"
                + " processors 33 %, all at the same moments: processors rest 27 % of the time");
    assertThat(EpochSplit.finding(on(third, 8.45, 2.3))).isEqualTo(storage);
    assertThat(EpochSplit.finding(on(third, 8.45, 2.3, 1))).isEqualTo(storage);
    Epoch half = epoch(2.9, 0, 5.5, 5.5, 4.4, 13);
    assertThat(EpochSplit.finding(on(half, 6.5, 0.7)).verdict()).isEqualTo(Bottleneck.STORAGE);
    assertThat(EpochSplit.finding(on(half, 6.5, 0.7, 0.98)).verdict())
        .isEqualTo(Bottleneck.STORAGE);
    Epoch twoThirds = epoch(0.3, 0, 5.8, 5.8, 5.4, 11.6);
    assertThat(EpochSplit.finding(on(twoThirds, 5.8, 0.02)).verdict())
        .isEqualTo(Bottleneck.PREPARATION);
  }

  /**
   * The same job, recorded with the time in which a read waited. The origin saves up what it may
   * give, and then gives it at once: it seems to rest for half of the time and more.
   */
  @Test
  void finding_readersWhoseReadsWaitTogether_waitForStorage() {
    Epoch third = epoch(6.88, 0, 4.81, 4.759, 4.865, 17.03);
    assertThat(EpochSplit.finding(on(third, 8.37, 2.94, 0.535)).verdict())
        .isEqualTo(Bottleneck.STORAGE);
    Epoch half = epoch(1.302, 0, 5.69, 5.612, 5.873, 13.03);
    assertThat(EpochSplit.finding(on(half, 6.47, 0.37, 0.222)).verdict())
        .isEqualTo(Bottleneck.STORAGE);
  }

  /**
   * Four readers on two processors that take 24 ms of CPU time for a file, and an origin where each
   * request takes 20 ms, with 35 % in memory. Each waits on its own, and processors rest 7 % of the
   * time: that is all that the epoch would lose without fetches. The verdict was storage.
   */
  @Test
  void finding_readersThatEachWaitOnTheirOwn_waitForPreparation() {
    Epoch latency = epoch(14.536, 0, 24.76, 24.688, 16.29, 56.108);
    assertThat(EpochSplit.finding(on(latency, 27.84, 1.92)).verdict())
        .isEqualTo(Bottleneck.STORAGE);
    assertThat(EpochSplit.finding(on(latency, 27.84, 1.92, 0.659)))
        .isEqualTo(
            new Finding(
                Bottleneck.PREPARATION,
                "its readers work, or wait for a processor, 73 % of their time, and are blocked by"
                    + " fetches 26 %"));
    assertThat(EpochSplit.finding(on(latency, 27.84, 1.92, 0.93)).verdict())
        .isEqualTo(Bottleneck.PREPARATION);
    assertThat(EpochSplit.finding(on(latency, 27.84, 1.92, 0.94)).verdict())
        .as("an origin that never rests")
        .isEqualTo(Bottleneck.STORAGE);
  }

  /** The same job while others took half of the processors' time: the origin was hardly used. */
  @Test
  void finding_readersThatWaitForProcessorsOfOthers_waitForPreparation() {
    Epoch busy = epoch(0.8, 0, 6, 6, 17, 24);
    assertThat(EpochSplit.finding(on(busy, 12, 0.1)).verdict()).isEqualTo(Bottleneck.PREPARATION);
  }

  /** Eight readers with a quota of two processors of 64: it cannot be one another they wait for. */
  @Test
  void finding_readersWithAQuota_waitForPreparation() {
    Epoch quota = epoch(24, 0, 20, 20, 36, 80);
    assertThat(EpochSplit.finding(on(quota, 640, 600)).verdict()).isEqualTo(Bottleneck.PREPARATION);
  }

  /** A thread prepares for all readers: they do not wait for a processor. */
  @Test
  void finding_readersThatWaitForAThreadOfTheirs_waitForPreparation() {
    Epoch helped = epoch(20, 0, 75, 5, 1, 100);
    assertThat(EpochSplit.finding(on(helped, 50, 20)).verdict()).isEqualTo(Bottleneck.PREPARATION);
  }

  @Test
  void finding_ofTooLittle_isUnknown() {
    assertThat(EpochSplit.finding(epoch(1, 0, 0.5, 0.5, 0, 1.9)))
        .isEqualTo(
            new Finding(
                Bottleneck.UNKNOWN, "too little was seen: 1000 opens, and readers for 1.9 s"));
    OptionalDouble some = OptionalDouble.of(9);
    assertThat(EpochSplit.finding(with(some, some, 7)).verdict()).isEqualTo(Bottleneck.UNKNOWN);
    assertThat(EpochSplit.finding(with(some, some, 8)).verdict()).isNotEqualTo(Bottleneck.UNKNOWN);
  }
}
