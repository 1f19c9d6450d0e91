package io.holdfast.fs.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.figures.CurveFigures;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.throughput.Evidence;
import io.holdfast.fs.throughput.JobModel;
import io.holdfast.fs.throughput.Observation;
import io.holdfast.fs.throughput.Runs;
import io.holdfast.fs.throughput.Setup;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

/** Tests of {@link CapacityCurve}. */
final class CapacityCurveTest {
  private static final long MB = 1_000_000;
  private static final long DATASET = 1000 * MB;

  /** Four readers that fetch at 50 MB/s together, and prepare at 1000 MB/s. */
  private static final double ORIGIN = 50.0 * MB;

  private static final double PREPARATION = 1000.0 * MB;

  private final List<Map<String, Object>> epochs = new ArrayList<>();
  private double planned = 0.5;
  private long dataset = DATASET;
  private long files;

  /** Adds an epoch with that share of hits; the rest of the readers' time is back-pressure. */
  private void epoch(double hits, double idleSeconds) {
    double fetched = (1 - hits) * DATASET;
    double fetching = fetched / ORIGIN;
    double preparing = DATASET / PREPARATION;
    double seconds = fetching + preparing + idleSeconds;
    Map<String, Object> epoch = new HashMap<>();
    epoch.put("epoch", epochs.size() + 1);
    epoch.put("opens", 1000);
    epoch.put("misses", Math.round(1000 * (1 - hits)));
    epoch.put("bytes", DATASET);
    epoch.put("origin_bytes", (long) fetched);
    epoch.put("seconds", seconds);
    epoch.put("readers", 4);
    epoch.put("origin_stall_seconds", 4 * fetching);
    epoch.put("cpu_seconds", 4 * preparing);
    epoch.put("reader_cpu_seconds", 4 * preparing);
    epoch.put("run_delay_seconds", 0.0);
    epoch.put("reader_seconds", 4 * seconds);
    epochs.add(epoch);
  }

  private Figures figures() {
    return FiguresJson.figures(
        Map.of(
            "dataset", Map.of("bytes", dataset, "files", files),
            "cache", Map.of("planned_hit_ratio", planned),
            "jobs", Map.of("jobs", List.of(Map.of("job", "train", "epochs", epochs)))));
  }

  private CurveFigures curve() {
    Figures figures = figures();
    return CapacityCurve.of(figures, figures.jobs().jobs().get(0)).orElseThrow().figures();
  }

  private static double speed(CurveFigures curve, double share) {
    return curve.points().stream()
        .filter(point -> point.share() == share)
        .findFirst()
        .orElseThrow()
        .bytesPerSecond();
  }

  /** The page says what {@code holdfast analyze} says, since both ask one model. */
  @Test
  void curve_ofAnEpochWithSomeHits_isThatOfTheModel() {
    epoch(0, 0);
    epoch(0.35, 0);
    epoch(0.35, 0);
    CurveFigures curve = curve();
    Figures figures = figures();
    List<Observation> seen =
        figures.jobs().jobs().get(0).epochs().stream().map(Observation::of).toList();
    Evidence.Site site = Evidence.Site.of(figures, seen, OptionalDouble.empty());
    JobModel model = Runs.of(seen, true, false).evidence(site, 0).map(JobModel::new).orElseThrow();
    for (CurveFigures.Point point : curve.points()) {
      Setup with = model.setup().withCapacityShare(point.share());
      assertThat(point.bytesPerSecond()).isCloseTo(model.speed(with).orElseThrow(), within(1.0));
      assertThat(point.atLeast()).isFalse();
    }
    assertThat(speed(curve, 0)).isCloseTo(ORIGIN, within(5.0 * MB));
    assertThat(speed(curve, 0.5)).isCloseTo(2 * ORIGIN, within(10.0 * MB));
    assertThat(curve.epoch()).isEqualTo(3);
    assertThat(curve.share()).isEqualTo(0.35);
    assertThat(curve.bytes()).isEqualTo(DATASET);
    assertThat(curve.kneeShare().orElseThrow())
        .isCloseTo(model.knee().orElseThrow(), within(0.0001));
    assertThat(curve.advice())
        .startsWith("With ")
        .contains(" in memory instead of 334 MiB, this job would be ")
        .contains("preparation limits it");
    assertThat(curve.points().get(0).epochSeconds()).isCloseTo(20, within(2.0));
  }

  /** The capacity counts whole pages; the page told a user 2.8 GiB of the 40 that were needed. */
  @Test
  void curve_ofFilesThatAreSmallerThanAPage_isOfTheirPages() {
    files = DATASET / 256;
    epoch(0, 0);
    epoch(0.35, 0);
    epoch(0.35, 0);
    assertThat(curve().bytes()).isEqualTo(16 * DATASET);
    files = DATASET / (1 << 20);
    assertThat(curve().bytes()).isCloseTo(DATASET + files * 2048, within(1L));
  }

  /**
   * The page took the capacity's share of the whole dataset for the share of what the job reads,
   * and said that more memory would make this job faster.
   */
  @Test
  void curve_ofAJobThatReadsAPartOfTheDataset_isOfThatPart() {
    dataset = 10 * DATASET;
    planned = 0.15;
    epoch(0, 0);
    epoch(1, 0);
    epoch(1, 0);
    CurveFigures curve = curve();
    assertThat(curve.share()).isEqualTo(1);
    assertThat(curve.bytes()).isEqualTo(DATASET);
    assertThat(curve.points().get(curve.points().size() - 1).capacityBytes()).isEqualTo(DATASET);
    assertThat(curve.advice()).startsWith("More memory makes this job hardly faster");
  }

  @Test
  void curve_ofTheFirstEpoch_saysThatItAlsoFillsTheMemory() {
    epoch(0, 0);
    CurveFigures curve = curve();
    assertThat(curve.share()).isZero();
    assertThat(curve.advice()).endsWith("from epoch 1, which also fills the memory.");
  }

  @Test
  void curve_whereTheConsumerIsSlower_isNoFasterThanIt() {
    epoch(0, 0);
    epoch(0.9, 7);
    epoch(0.9, 7);
    CurveFigures curve = curve();
    double consumer = DATASET / 10.0; // in 2 s of fetches, 1 s of preparation, and 7 s
    assertThat(speed(curve, 1)).isCloseTo(consumer, within(1.0));
    assertThat(speed(curve, 0)).isCloseTo(ORIGIN, within(5.0 * MB));
    double knee = curve.kneeShare().orElseThrow();
    assertThat(knee).isBetween(0.45, 0.7);
    assertThat(speed(curve, knee)).isCloseTo(consumer, within(consumer / 10));
  }

  /** Nobody has waited for the origin: it gives at least what it gave. */
  @Test
  void curve_whereTheOriginWasHardlyUsed_isAtLeastWhatItGave() {
    planned = 0.9;
    epoch(0.9, 7);
    CurveFigures curve = curve();
    assertThat(curve.points().get(0).atLeast()).isTrue();
    assertThat(speed(curve, 0)).isCloseTo(10.0 * MB, within(1.0 * MB));
    assertThat(speed(curve, 1)).isCloseTo(100.0 * MB, within(1.0));
    assertThat(curve.advice()).startsWith("More memory makes this job no faster");
  }

  @Test
  void curve_beyondTheKnee_saysThatMoreMemoryIsUseless() {
    planned = 0.9;
    epoch(0.9, 7);
    assertThat(curve().advice()).startsWith("More memory makes this job no faster");
  }

  @Test
  void curve_asJson_hasItsPoints() {
    epoch(0.9, 7);
    Map<String, Object> json = FiguresJson.map(curve());
    assertThat(json).containsKeys("job", "share", "knee_share", "advice");
    assertThat(json.get("points")).asString().contains("bytes_per_second", "capacity_bytes");
  }

  @Test
  void curve_withoutFetchesInTheLastEpoch_hasTheOriginOfAnEarlierOne() {
    epoch(0, 0);
    epoch(1, 0);
    assertThat(speed(curve(), 0)).isCloseTo(ORIGIN, within(3.0 * MB));
  }

  @Test
  void curve_whileAnEpochHasJustBegun_isThatOfTheOneBefore() {
    epoch(0, 0);
    epoch(0.5, 0);
    epochs.get(1).put("opens", 3);
    epochs.get(1).put("reader_seconds", 0.1);
    assertThat(curve().epoch()).isEqualTo(1);
    assertThat(speed(curve(), 0)).isCloseTo(ORIGIN, within(5.0 * MB));
  }

  /** The daemon may be in a container of two processors, on a machine that has a thousand. */
  @Test
  void site_hasTheProcessorsOfTheMachine() {
    epoch(0, 0);
    epoch(0.5, 0);
    epochs.forEach(each -> each.put("processor_seconds", 999.8 * (Double) each.get("seconds")));
    Figures figures = figures();
    List<Observation> seen =
        figures.jobs().jobs().get(0).epochs().stream().map(Observation::of).toList();
    assertThat(Evidence.Site.of(figures, seen, OptionalDouble.empty()).processors())
        .isEqualTo(1000);
    assertThat(Evidence.Site.of(figures, List.of(), OptionalDouble.empty()).processors())
        .isEqualTo(Runtime.getRuntime().availableProcessors());
  }

  @Test
  void curve_whereNoTimeIsKnown_isNone() {
    epoch(0, 0);
    epochs.get(0).remove("cpu_seconds");
    Figures figures =
        FiguresJson.figures(
            Map.of(
                "dataset", Map.of("bytes", DATASET),
                "jobs", Map.of("jobs", List.of(Map.of("job", "train", "epochs", epochs)))));
    assertThat(CapacityCurve.of(figures, figures.jobs().jobs().get(0))).isEmpty();
  }
}
