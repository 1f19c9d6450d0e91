package io.holdfast.fs.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.bench.BenchReport.Capacity;
import io.holdfast.fs.units.Level;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BenchReportTest {
  private static final Capacity ALL = new Capacity(1, true);

  private static BenchReport report(double residentShare, long failures) {
    Map<Workload, Bench.Figures> figures = new EnumMap<>(Workload.class);
    figures.put(Workload.SMALL_RESIDENT, new Bench.Figures(80_000, 2000, 90_000));
    figures.put(Workload.SMALL_ABSENT, new Bench.Figures(1000, 2000, 90_000));
    figures.put(Workload.SEQUENTIAL_ABSENT, new Bench.Figures(123_456_789, Double.NaN, Double.NaN));
    return new BenchReport(figures, 300, residentShare, failures);
  }

  @Test
  void text_isATableWithWordsAndReasons() {
    assertThat(report(1, 0).text(ALL, (level, word) -> "<" + word + ">"))
        .containsSubsequence(
            "mount               source, cold   source, cached  ratio\n",
            "small files, resident                80,000 files/s      2,000 files/s  90,000 files/s"
                + "  0.89   <good>\n",
            "small files, not resident            1,000 files/s       2,000 files/s  90,000 files/s"
                + "  0.50   <fair>\n",
            "large files in order, resident       none in the sample\n",
            "large files in order, not resident   118 MiB/s           n/a            n/a           "
                + "  -\n",
            "\n\n<fair>: small files, not resident: 0.50 of what the source gives: a fetch goes");
  }

  @Test
  void verdict_resident_isComparedWithThePageCache() {
    assertThat(level(Workload.SMALL_RESIDENT, 63, 1, 90)).isEqualTo(Level.GOOD);
    assertThat(level(Workload.SMALL_RESIDENT, 62, 1, 90)).isEqualTo(Level.FAIR);
    assertThat(level(Workload.RANDOM_RESIDENT, 35, 1, 90)).isEqualTo(Level.POOR);
  }

  @Test
  void verdict_notResident_isComparedWithTheColdSource() {
    assertThat(level(Workload.SMALL_ABSENT, 70, 100, 900)).isEqualTo(Level.GOOD);
    assertThat(level(Workload.SEQUENTIAL_ABSENT, 69, 100, 900)).isEqualTo(Level.FAIR);
    assertThat(level(Workload.RANDOM_ABSENT, 39, 100, 1)).isEqualTo(Level.POOR);
  }

  @Test
  void verdict_nothingToCompareWith_isNone() {
    assertThat(level(Workload.SMALL_ABSENT, 70, Double.NaN, Double.NaN)).isNull();
  }

  private static Level level(Workload task, double mount, double cold, double warm) {
    return BenchReport.verdict(task, new Bench.Figures(mount, cold, warm)).level();
  }

  @Test
  void notes_capacityThatIsNotUsed_namesWarm() {
    assertThat(report(0.12, 0).whole(new Capacity(0.8, true)))
        .containsExactly(
            new BenchReport.Verdict(
                Level.POOR,
                "12 % of the sample is resident, 80 % of the dataset would fit: read it once, or"
                    + " run 'holdfast warm'"));
  }

  @Test
  void notes_smallCapacity_namesIt() {
    assertThat(report(0.4, 0).whole(new Capacity(0.4, true)))
        .containsExactly(
            new BenchReport.Verdict(
                Level.FAIR,
                "the capacity is for 40 % of the dataset, so 60 % is fetched in each epoch: raise"
                    + " --capacity, or share memory with --peers"));
    assertThat(report(0.3, 0).whole(new Capacity(0.3, true)).get(0).level()).isEqualTo(Level.POOR);
  }

  @Test
  void notes_softPinsAndFailures_areTold() {
    assertThat(report(1, 3).whole(new Capacity(1, false)))
        .extracting(BenchReport.Verdict::reason)
        .satisfiesExactly(
            pins -> assertThat(pins).startsWith("pins are soft"),
            failed -> assertThat(failed).startsWith("3 reads failed"));
    assertThat(report(1, 0).whole(ALL)).isEmpty();
  }

  @Test
  void json_hasRowsWithNullForWhatIsNotKnown() {
    Map<String, ?> json = report(1, 0).json(ALL);
    assertThat(json.get("rows").toString())
        .contains("what=small files, resident, unit=files/s, mount=80000.0", "ratio=0.889")
        .contains("origin_cold=null, origin_cached=null, ratio=null, level=null");
    assertThat(json.get("resident_share")).isEqualTo(1.0);
  }
}
