package io.holdfast.fs.accelerator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AcceleratorReportTest {
  private static final long GIB = 1L << 30;
  private static final AcceleratorReport.Conditions CONDITIONS =
      new AcceleratorReport.Conditions(GIB, true, 0.5, 1);
  private static final Training RETINANET =
      Training.of(TrainingWorkload.RETINANET, AcceleratorType.B200);

  private static final AcceleratorReport.Row MOUNT =
      new AcceleratorReport.Row(
          Target.MOUNT,
          2,
          0.8504,
          277_194_000.4,
          1000,
          15_501_936_000L,
          55.9,
          16_000_000,
          5_600_000);
  private static final AcceleratorReport.Row SOURCE =
      new AcceleratorReport.Row(
          Target.SOURCE, 2, 0.1534, 50_000_000, 200, 2_500_000_000L, 50, 2_700_000_000L, -1);
  private static final AcceleratorReport.Row NOTHING =
      new AcceleratorReport.Row(Target.SOURCE, 4, Double.NaN, Double.NaN, 0, 0, 0, 1_000_000, -1);

  @TempDir Path temp;

  @BeforeEach
  void files() throws IOException {
    for (int i = 0; i < 3; i++) {
      Files.write(temp.resolve("f" + i), new byte[322_957]);
    }
  }

  private AcceleratorReport report(
      Training training, @Nullable Path origin, int most, AcceleratorReport.Row... rows)
      throws IOException {
    AcceleratorBench.Plan plan =
        new AcceleratorBench.Plan(
            temp,
            origin,
            training,
            List.of(Target.MOUNT, Target.SOURCE),
            2,
            most,
            Duration.ofSeconds(60),
            100,
            42);
    DatasetFiles files =
        DatasetFiles.find(temp, training.recordBytes(), 100, new Random(1), () -> false);
    return new AcceleratorReport(plan, files, List.of(rows), true, false);
  }

  @Test
  void text_isATableAndWhatItMeans() throws IOException {
    assertThat(report(RETINANET, temp, 4, MOUNT, SOURCE, NOTHING).text(CONDITIONS))
        .isEqualTo(
            """
            retinanet on b200: batches of 24 files, 47.55 ms each, 8 readers per accelerator, which takes 155 MiB/s; target AU 85 %
            3 files, 946 KiB; seed 42

                    accelerators  AU      bytes/s     steps  from memory
            mount   2             85.0 %  264 MiB/s   1,000  65 %         passes
            source  2             15.3 %  47.7 MiB/s  200                 too slow
            source  4             n/a     n/a         0                   not measured

            mount keeps 2 accelerators at an AU of 85 %
            source keeps fewer than 2 accelerators at an AU of 85 %
            note: an accelerator did not get a second batch: give more --time, or fewer
            note: the capacity was 50 % full before the run and 100 % after it: later epochs are faster; run 'holdfast warm' first
            note: AU as MLPerf Storage defines it, but no result of that benchmark, whose rules want a warm-up and five runs
            note: the rules want at least 500 steps, there were 0
            note: the rules want a dataset of at least 5 times the host's memory of 1.00 GiB, this one has 946 KiB
            note: the rules want caches dropped before each epoch (3.0): the mount's residents are pinned and survive that
            """);
  }

  /** The contract of --json. */
  @Test
  void json_isThatOfItsContract() throws IOException {
    String json =
        JSON.std
            .with(JSON.Feature.WRITE_NULL_PROPERTIES)
            .asString(
                report(RETINANET, temp, 2, MOUNT, SOURCE)
                    .json(new AcceleratorReport.Conditions(0, false, 1, 1)));
    assertThat(json)
        .isEqualTo(
            """
            {"workload":"retinanet","accelerator_type":"b200","record_bytes":null,"batch":24,\
            "compute_seconds":0.04755,"workers":8,"target_au":0.85,"files":3,\
            "dataset_bytes":968871,"complete":true,"seed":42,"interrupted":false,"rows":[\
            {"target":"mount","accelerators":2,"au":0.8504,"bytes_per_second":277194000,\
            "passes":true,"steps":1000,"seconds":55.9,"bytes":15501936000,\
            "read_bytes":16000000,"fetched_bytes":5600000},\
            {"target":"source","accelerators":2,"au":0.1534,"bytes_per_second":50000000,\
            "passes":false,"steps":200,"seconds":50.0,"bytes":2500000000,\
            "read_bytes":2700000000,"fetched_bytes":null}],\
            "kept":[{"target":"mount","accelerators":2},{"target":"source","accelerators":0}],\
            "notes":["AU as MLPerf Storage defines it, but no result of that benchmark, whose rules\
             want a warm-up and five runs","the rules want at least 500 steps, there were 200"]}""");
  }

  @Test
  void json_whatWasNotMeasured_isNull() throws IOException {
    assertThat(report(RETINANET, temp, 4, NOTHING).json(CONDITIONS))
        .containsEntry("kept", List.of())
        .hasEntrySatisfying(
            "rows",
            rows ->
                assertThat(rows.toString())
                    .contains("au=null, bytes_per_second=null, passes=null, steps=0"));
  }

  @Test
  void numberAtTheEndOfTheRange_isAtLeast() throws IOException {
    assertThat(report(RETINANET, temp, 2, MOUNT).text(CONDITIONS))
        .contains("\nmount keeps at least 2 accelerators at an AU of 85 %\n");
  }

  @Test
  void notes_datasetOfAnotherSize_isTold() throws IOException {
    Training unet = Training.of(TrainingWorkload.UNET3D, AcceleratorType.H100);
    assertThat(report(unet, temp, 2, MOUNT).notes(CONDITIONS).get(0))
        .isEqualTo(
            "samples of the dataset have 315 KiB on average, those of unet3d 140 MiB: the AU is"
                + " that of the dataset");
  }

  @Test
  void notes_filesSmallerThanARecord_areTold() throws IOException {
    Files.write(temp.resolve("small"), new byte[10]);
    Training resnet = Training.of(TrainingWorkload.RESNET50, AcceleratorType.H100);
    assertThat(report(resnet, temp, 2, MOUNT).notes(CONDITIONS).get(0))
        .isEqualTo("1 file left out: smaller than a record of 112 KiB");
    assertThat(report(resnet, temp, 2, MOUNT).text(CONDITIONS))
        .startsWith("resnet50 on h100: batches of 400 records of 112 KiB, 224 ms each, 8 readers");
  }
}
