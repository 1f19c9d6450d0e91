package io.holdfast.fs.analyze;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.throughput.Epochs;
import io.holdfast.fs.throughput.Observation;
import io.holdfast.fs.throughput.Runs;
import io.holdfast.fs.throughput.WhatIf;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Reports: which epochs count, what is said, and the object for programs. */
class AnalysisTest {
  private static List<Long> numbers(List<Observation> epochs) {
    return epochs.stream().map(each -> each.epoch().epoch()).toList();
  }

  @Test
  void firstEpoch_isSetApartWhereThereIsALater() {
    List<Observation> all = Reports.storageEpochs();
    assertThat(numbers(Runs.of(all, true, true).steady())).containsExactly(2L, 3L);
    assertThat(numbers(Runs.of(all, false, true).steady())).containsExactly(2L, 3L);
    assertThat(numbers(Runs.of(all.subList(0, 1), true, true).steady())).containsExactly(1L);
    assertThat(Runs.of(List.of(), true, true).steady()).isEmpty();
  }

  @Test
  void epochUnderWay_isSetApart() {
    List<Observation> all =
        List.of(
            Epochs.of(4).origin(650_000_000, 5).by(1, 4).seen(),
            Epochs.of(5).in(2).bytes(200_000_000).origin(130_000_000, 1).by(1, 1).seen());
    assertThat(numbers(Runs.of(all, false, false).steady())).containsExactly(4L);
    Analysis analysis =
        Analysis.of(Reports.subject("a", "/b"), Runs.of(all, false, false), List.of());
    assertThat(analysis.notes()).anyMatch(note -> note.contains("under way"));
  }

  /** It was stopped in the middle of a pass, which halved what an epoch reads. */
  @Test
  void lastEpoch_ofAJobThatEndedInTheMiddleOfIt_isSetApart() {
    List<Observation> all = new ArrayList<>(Reports.storageEpochs());
    all.add(Epochs.of(4).in(1.3).bytes(100_000_000).origin(65_000_000, 3.9).by(4, 1.3).seen());
    Runs runs = Runs.of(all, true, true);
    assertThat(numbers(runs.steady())).containsExactly(2L, 3L);
    assertThat(runs.mean().orElseThrow().epoch().bytes()).isEqualTo(1_000_000_000);
    Analysis analysis = Analysis.of(Reports.subject("a", "/b"), runs, List.of());
    assertThat(analysis.advice()).isEqualTo(Reports.storage("a", "/b").advice());
    assertThat(analysis.notes())
        .containsExactly("the job ended in the middle of its last epoch, which is set apart");
    assertThat(numbers(Runs.of(List.of(all.get(0), all.get(3)), true, true).steady()))
        .as("the only whole one")
        .containsExactly(1L);
  }

  /** "More memory is useless: what the job reads is in memory", with nothing in memory. */
  @Test
  void advice_whereBytesDoNotTellWhatWasInMemory_saysNothingOfIt() throws IOException {
    long dataset = 1_000_000_000;
    for (Epochs epoch :
        List.of(
            Epochs.of(2).in(20).bytes(64 * dataset).origin(dataset, 70).by(4, 1),
            Epochs.of(2).in(20).bytes(dataset).origin(5 * dataset, 70).by(4, 1))) {
      Analysis analysis =
          Analysis.of(
              Reports.subject("a", "/b"), Runs.of(List.of(epoch.seen()), false, true), List.of());
      assertThat(analysis.advice())
          .startsWith("What would make it faster cannot be told: it ")
          .doesNotContain("is in memory");
      assertThat(analysis.knee()).isEmpty();
      assertThat(AnalysisText.of(analysis))
          .containsPattern("2 +20\\.0 s .*/s +- +8\\d %")
          .contains("It waits for storage");
      assertThat(json(analysis)).containsEntry("knee_capacity_share", null);
    }
  }

  /** Somebody has changed the capacity: only what came after it tells of now. */
  @Test
  void epochsWithOtherHits_doNotCountForNow() {
    List<Observation> all =
        List.of(
            Epochs.of(7).origin(650_000_000, 5).by(1, 4).seen(),
            Epochs.of(8).origin(100_000_000, 1).by(1, 4).seen(),
            Epochs.of(9).origin(110_000_000, 1).by(1, 4).seen());
    assertThat(numbers(Runs.of(all, false, true).steady())).containsExactly(8L, 9L);
  }

  /** What a warm epoch cannot tell of the origin, the first one can. */
  @Test
  void originRate_withAllInMemory_comesFromTheFirstEpoch() {
    List<Observation> all =
        List.of(
            Epochs.of(1).in(20).origin(1_000_000_000, 20).by(1, 0).seen(),
            Epochs.of(2).in(4).by(1, 4).seen());
    Analysis analysis =
        Analysis.of(Reports.subject("a", "/b"), Runs.of(all, true, true), List.of());
    assertThat(analysis.model().orElseThrow().rates().origin().orElseThrow())
        .isCloseTo(50e6, within(1e5));
    assertThat(analysis.advice()).startsWith("More memory is useless: what the job reads is in");
  }

  /** A rate limit lets little through at once: only who reaches it sees it. */
  @Test
  void originRate_ofAnOriginThatIsHardlyUsed_comesFromTheEpochThatWaitedMost() {
    List<Observation> all =
        List.of(
            Epochs.of(1).in(20).origin(1_000_000_000, 60).by(4, 20).seen(),
            Epochs.of(2).in(10).origin(250_000_000, 0.8).by(4, 20).waitingForProcessors(19).seen());
    Analysis analysis =
        Analysis.of(Reports.subject("a", "/b"), Runs.of(all, true, true), List.of());
    assertThat(analysis.model().orElseThrow().rates().origin().orElseThrow())
        .isCloseTo(50e6, within(1e6));
    WhatIf without = analysis.whatIf().get(0);
    assertThat(without.value()).isZero();
    assertThat(without.speed()).isCloseTo(50e6, within(2e6));
  }

  @Test
  void advice_ofAJobThatWaitsForStorage_saysHowMuchMemoryHelps() {
    String advice = Reports.storage("train", "/data").advice();
    assertThat(advice)
        .matches(
            "More memory helps up to \\d+ MiB, which is \\d+ % of what an epoch reads: 1\\.\\d"
                + " times as fast as now\\. Preparation limits at 143 MiB/s.*")
        .contains("an origin twice as fast");
  }

  /** The capacity counts whole pages. */
  @Test
  void advice_ofSmallFiles_isInTheirPages() {
    Analysis is = Reports.storage("train", "/data");
    Subject small = new Subject("train", "/data", 0, 1000, is.subject().site());
    assertThat(Analysis.of(small, is.runs(), List.of()).advice())
        .matches("More memory helps up to \\d+ GiB, which is .*");
  }

  @Test
  void advice_ofAJobThatPrepares_saysThatMemoryIsUseless() {
    Analysis analysis = Reports.preparation();
    assertThat(analysis.runs().mean().orElseThrow().finding().verdict().word())
        .isEqualTo("preparation");
    assertThat(analysis.advice())
        .startsWith("More memory is useless: files come faster than the job takes them.")
        .contains("Preparation limits at ");
  }

  @Test
  void advice_ofAJobWithAnAccelerator_saysThatFewerWorkersDo() {
    Analysis analysis = Reports.accelerator();
    assertThat(analysis.advice())
        .startsWith("More memory is useless")
        .contains("The accelerator limits at 95.4 MiB/s.")
        .containsPattern("[1-5] in place of 8 workers are as good\\.");
    assertThat(analysis.knee().orElseThrow()).isLessThan(0.9);
  }

  @Test
  void advice_withoutEpochs_saysThatNothingCanBeTold() {
    assertThat(Reports.empty().advice()).isEqualTo("Cannot be told: no epoch was seen.");
    Analysis nothing =
        Analysis.of(
            Reports.subject("a", "/b"),
            Runs.of(List.of(Epochs.of(1).bytes(0).in(0).withoutCpu().seen()), true, true),
            List.of());
    assertThat(nothing.advice())
        .startsWith("Cannot be told: /proc showed no CPU time of its readers");
    assertThat(nothing.whatIf()).isEmpty();
  }

  @Test
  void json_isThatOfTheContract() throws IOException {
    Map<String, Object> all = json(Reports.storage("train", "/data"));
    assertThat(all.keySet())
        .containsExactly("job", "epochs", "rates", "what_if", "knee_capacity_share", "advice");
    assertThat(all.get("job")).isEqualTo("train");
    List<?> epochs = (List<?>) all.get("epochs");
    assertThat(epochs).hasSize(3);
    for (Object each : epochs) {
      Map<?, ?> epoch = (Map<?, ?>) each;
      assertThat(epoch.keySet().toString())
          .isEqualTo("[epoch, seconds, fetching_seconds, bytes, shares, verdict, reason]");
      Map<?, ?> shares = (Map<?, ?>) epoch.get("shares");
      assertThat(shares.keySet().toString())
          .isEqualTo("[fetch_origin, fetch_peer, preparation, back_pressure]");
      assertThat(
              shares.values().stream().mapToDouble(share -> ((Number) share).doubleValue()).sum())
          .isCloseTo(1, within(1e-6));
      assertThat(epoch.get("verdict")).isEqualTo("storage");
    }
    Map<?, ?> rates = (Map<?, ?>) all.get("rates");
    assertThat(rates.keySet().toString())
        .isEqualTo("[origin, peer, memory, preparation, accelerator]");
    assertThat(rates.get("peer")).isNull();
    assertThat(rates.get("memory")).isNull();
    assertThat(((Number) rates.get("origin")).longValue()).isBetween(48_000_000L, 52_000_000L);
    assertThat(((Number) rates.get("preparation")).longValue())
        .isBetween(149_000_000L, 151_000_000L);
    for (Object each : (List<?>) all.get("what_if")) {
      assertThat(((Map<?, ?>) each).keySet().toString())
          .isEqualTo("[change, value, bytes_per_second, epoch_seconds]");
    }
    assertThat(
            ((List<?>) all.get("what_if"))
                .stream().map(row -> String.valueOf(((Map<?, ?>) row).get("change"))))
        .containsAll(Set.of("capacity", "nodes", "origin", "workers", "accelerator", "warm"));
    assertThat(((Number) all.get("knee_capacity_share")).doubleValue()).isBetween(0.6, 0.9);
  }

  @Test
  void json_whatCannotBeTold_isNull() throws IOException {
    Map<String, Object> nothing = json(Reports.empty());
    assertThat(nothing).containsEntry("knee_capacity_share", null).containsKey("rates");
    assertThat(((Map<?, ?>) nothing.get("rates")).values()).containsOnlyNulls();
    Analysis blind =
        Analysis.of(
            Reports.subject("a", "/b"),
            Runs.of(List.of(Epochs.of(2).origin(1, 1).withoutCpu().seen()), false, true),
            List.of());
    Map<?, ?> epoch = (Map<?, ?>) ((List<?>) json(blind).get("epochs")).get(0);
    assertThat(epoch.get("verdict")).isEqualTo("unknown");
    assertThat(String.valueOf(epoch.get("reason"))).startsWith("/proc showed no CPU time");
    assertThat(((Map<?, ?>) epoch.get("shares")).values()).containsOnlyNulls();
    assertThat(epoch.get("fetching_seconds")).isNull();
  }

  @Test
  void json_tellsForHowLongAReadWaited() throws IOException {
    List<Observation> seen = List.of(Epochs.of(2).by(4, 20).fetching(6.7).seen());
    Analysis analysis =
        Analysis.of(Reports.subject("a", "/b"), Runs.of(seen, false, true), List.of());
    Map<?, ?> epoch = (Map<?, ?>) ((List<?>) json(analysis).get("epochs")).get(0);
    assertThat(epoch.get("fetching_seconds")).isEqualTo(6.7);
  }

  private static Map<String, Object> json(Analysis analysis) throws IOException {
    return JSON.std.mapFrom(
        JSON.std.with(JSON.Feature.WRITE_NULL_PROPERTIES).asString(AnalysisJson.of(analysis)));
  }

  /** The first epoch took 38 MB/s from it: so much it gives, and nobody knows whether more. */
  @Test
  void origin_thatTheJobHardlyWaitedFor_isToldAsAtLeast() throws IOException {
    Analysis analysis = Reports.preparationAlone();
    String text = AnalysisText.of(analysis);
    assertThat(text)
        .containsPattern("origin +at least 36\\.7 MiB/s\n")
        .containsPattern("4 nodes share it +38\\.1 MiB/s +25\\.0 s +1\\.00\n")
        .containsPattern("8 workers +38\\.1 MiB/s +25\\.0 s +1\\.00\n")
        .contains("Note: the job hardly waited for the origin");
    assertThat(analysis.advice())
        .startsWith("More memory is useless: files come faster than the job takes them.")
        .contains("2 more CPU cores would make it up to 2.0 times as fast.")
        .contains("2 in place of 4 workers are as good.");
    assertThat(analysis.knee().orElseThrow()).isLessThan(0.1);
    Map<String, Object> all = json(analysis);
    assertThat((Map<?, ?>) all.get("rates")).extracting("origin").isNull();
    assertThat((Map<?, ?>) all.get("rates")).extracting("origin_at_least").isEqualTo(38_461_538);
    assertThat((List<?>) all.get("what_if"))
        .allSatisfy(row -> assertThat(((Map<?, ?>) row).get("at_least")).isIn(null, true));
  }

  /** Half of the dataset in memory, and an origin behind a limit that saves up. */
  @Test
  void advice_whereTheOriginWasHardlyUsed_saysWhatMemoryIsEnough() {
    List<Observation> epochs =
        List.of(
            Epochs.of(2)
                .in(3.25)
                .bytes(322_957_000)
                .origin(161_478_500, 2.8)
                .by(4, 5.5)
                .waitingForProcessors(4.4)
                .seen());
    Analysis analysis =
        Analysis.of(Reports.subject("a", "/b"), Runs.of(epochs, false, true), List.of());
    assertThat(analysis.advice())
        .matches(
            "More memory helps up to 1\\.[12] times as fast as now, and for that \\d+ MiB are enough;"
                + " whether less is cannot be told, because the job hardly waited for the"
                + " origin\\..*")
        .contains("an origin twice as fast would make it up to 1.2 times as fast.");
    assertThat(analysis.knee().orElseThrow()).isBetween(0.7, 0.8);
  }

  /** Nobody knows what it would be without memory, but at least what came from the origin. */
  @Test
  void speed_withLessMemoryThanWasSeen_isAtLeastWhatTheOriginGave() throws IOException {
    List<Observation> epochs =
        List.of(
            Epochs.of(2).in(25).origin(500_000_000, 1).by(4, 50).waitingForProcessors(48).seen());
    Analysis analysis =
        Analysis.of(Reports.subject("a", "/b"), Runs.of(epochs, false, true), List.of());
    WhatIf without = analysis.whatIf().get(0);
    assertThat(without.isAtLeast()).isTrue();
    assertThat(without.speed()).isCloseTo(20e6, within(1.0));
    assertThat(AnalysisText.of(analysis))
        .containsPattern(
            "\n0 % in memory +at least 19\\.1 MiB/s +at most 50\\.0 s +at least 0\\.50\n");
    Object row = ((List<?>) json(analysis).get("what_if")).get(0);
    assertThat((Map<?, ?>) row).extracting("at_least").isEqualTo(true);
  }

  @Test
  void text_isAsItIs() {
    assertThat(AnalysisText.of(Reports.storage("train", "/data"))).isEqualTo(TEXT);
  }

  private static final String TEXT =
      """
      Job train at /data

      epoch  time    bytes    speed       from memory  origin  peers  preparation  back-pressure\
        waits for
      1*     20.0 s  954 MiB  47.7 MiB/s  0 %          83 %    0 %    17 %         1 %          \
        storage
      2      13.0 s  954 MiB  73.4 MiB/s  35 %         74 %    0 %    26 %         0 %          \
        storage
      3      13.1 s  954 MiB  72.8 MiB/s  35 %         74 %    0 %    25 %         0 %          \
        storage

      It waits for storage: its readers are blocked by fetches 74 % of their time, and work 25 %.
      * set apart: rates are those of the other epochs.

      origin       47.5 MiB/s
      peers        -
      memory       -
      preparation  143 MiB/s, 71.7 MiB/s with each CPU core; enough with 2 workers
      accelerator  at least 73.1 MiB/s

      if                             speed       epoch   gain
      as it is                       73.1 MiB/s  13.1 s
      0 % in memory                  47.5 MiB/s  20.1 s  0.65
      20 % in memory                 59.4 MiB/s  16.1 s  0.81
      40 % in memory                 79.2 MiB/s  12.0 s  1.08
      60 % in memory                 110 MiB/s   8.7 s   1.50
      80 % in memory                 136 MiB/s   7.0 s   1.86
      100 % in memory                143 MiB/s   6.6 s   1.96
      2 nodes share it               123 MiB/s   7.7 s   1.69
      4 nodes share it               143 MiB/s   6.7 s   1.96
      the origin twice as fast       120 MiB/s   7.9 s   1.65
      2 workers                      63.1 MiB/s  15.1 s  0.86
      8 workers                      73.1 MiB/s  13.1 s  1.00
      the accelerator twice as fast  73.1 MiB/s  13.1 s  1.00
      first epoch, warmed before     73.1 MiB/s  13.1 s  1.53

      More memory helps up to 769 MiB, which is 81 % of what an epoch reads: 1.9 times as fast\
       as now. Preparation limits at 143 MiB/s: 2 more CPU cores would make it 1.4 times as\
       fast. With the memory of now, an origin twice as fast would make it 1.6 times as fast. 3\
       in place of 4 workers are as good.
      """;

  /** Readers that wait for processors at the same moments wait for them more than for files. */
  @Test
  void text_whereTogetherSomethingElseLimits_saysBoth() {
    List<Observation> all =
        List.of(
            Epochs.of(2).in(13).origin(650_000_000, 20).by(4, 15).waitingForProcessors(16).seen());
    String text =
        AnalysisText.of(
            Analysis.of(Reports.subject("a", "/b"), Runs.of(all, false, true), List.of()));
    assertThat(text)
        .contains("It waits for preparation: ")
        .containsPattern(
            "All readers together are limited by storage, though: files come at up to [78]\\d\\S*"
                + " MiB/s, and can be prepared at 127 MiB/s\\.");
    assertThat(AnalysisText.of(Reports.storage("a", "/b"))).doesNotContain("though");
    assertThat(AnalysisText.of(Reports.preparation())).doesNotContain("though");
  }

  @Test
  void text_ofHostileNames_isOnItsLines() {
    String text = AnalysisText.of(Reports.storage("a\u001b[2J\nforged", "/d\u202ex"));
    assertThat(text).startsWith("Job a\\x1b[2J\\nforged at /d\\u202ex\n");
    assertThat(text.replace("\n", "")).matches("[^\\p{Cc}\\p{Cf}]*");
  }
}
