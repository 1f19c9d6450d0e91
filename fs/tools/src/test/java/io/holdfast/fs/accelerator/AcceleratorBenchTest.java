package io.holdfast.fs.accelerator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AcceleratorBenchTest {
  private static final Duration HOUR = Duration.ofHours(1);
  private static final AcceleratorReport.Conditions CONDITIONS =
      new AcceleratorReport.Conditions(0, true, 1, 1);

  @TempDir Path temp;

  private AcceleratorBench.Plan plan(long recordBytes, @Nullable Path origin, Target... targets) {
    Training training = new Training("custom", "", 0, recordBytes, 2, 1_000_000, 2, 0.9);
    return new AcceleratorBench.Plan(temp, origin, training, List.of(targets), 1, 8, HOUR, 100, 42);
  }

  @Test
  void stop_endsWithWhatWasMeasured() throws Exception {
    for (int i = 0; i < 10; i++) {
      Files.write(temp.resolve("f" + i), new byte[1000]);
    }
    AtomicReference<AcceleratorBench> bench = new AtomicReference<>();
    bench.set(
        new AcceleratorBench(
            plan(0, temp, Target.MOUNT, Target.SOURCE),
            () -> {
              bench.get().stop();
              return 5;
            }));
    AcceleratorReport report = bench.get().run();
    assertThat(report.json(CONDITIONS))
        .containsEntry("interrupted", true)
        .containsEntry("files", 10)
        .hasEntrySatisfying(
            "rows",
            rows ->
                assertThat(rows.toString())
                    .startsWith("[{target=mount, accelerators=4, au=null, bytes_per_second=null,")
                    .endsWith("fetched_bytes=0}]"));
    assertThat(report.notes(CONDITIONS).get(0)).startsWith("the run was ended before its time");
  }

  @Test
  void noFile_isTold() {
    assertThatThrownBy(() -> new AcceleratorBench(plan(0, null, Target.MOUNT), () -> 0).run())
        .isInstanceOf(IOException.class)
        .hasMessage("found no file to read: is the mount empty, or --time too short?");
  }

  @Test
  void recordLargerThanAllFiles_isTold() throws IOException {
    Files.write(temp.resolve("a"), new byte[1000]);
    assertThatThrownBy(() -> new AcceleratorBench(plan(1001, null, Target.MOUNT), () -> 0).run())
        .isInstanceOf(IOException.class)
        .hasMessage(
            "no file is as large as a record of 1001 bytes: give a smaller --record-size, or a"
                + " workload with whole files");
  }

  @Test
  void search_findsTheLargestNumberThatPasses() throws Exception {
    for (int fewest : List.of(1, 3)) {
      for (int most = fewest; most < 40; most++) {
        for (int limit = fewest - 1; limit <= most; limit++) {
          int largest = limit;
          List<Integer> tried = new ArrayList<>();
          AcceleratorBench.search(
              fewest,
              most,
              n -> {
                tried.add(n);
                return n <= largest;
              });
          assertThat(tried)
              .hasSizeLessThanOrEqualTo(AcceleratorBench.measurementsOf(fewest, most))
              .doesNotHaveDuplicates()
              .allMatch(n -> n >= 1);
          // the limit and the number above it were tried, as far as they are in the range
          if (limit >= fewest) {
            assertThat(tried).contains(limit);
          }
          if (limit < most) {
            assertThat(tried).contains(limit + 1);
          }
        }
      }
    }
  }
}
