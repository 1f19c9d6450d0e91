package io.holdfast.fs.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SliceTest {
  private static final long LONG = TimeUnit.MINUTES.toNanos(1);
  private static final long SHORT = TimeUnit.MILLISECONDS.toNanos(5);

  @TempDir Path temp;
  private final ExecutorService executor = Executors.newFixedThreadPool(2);
  private final LongAdder failures = new LongAdder();
  private final Slice slice = new Slice(executor, 2, failures);

  @AfterEach
  void stop() {
    executor.shutdownNow();
  }

  @Test
  void onePass_endsBehindTheLastFile() throws Exception {
    List<Path> files = List.of(file("a", 10), file("b", 3_000_000), file("c", 1));
    assertThat(slice.measure(files, new Slice.How(true, false, false, LONG, 1))).isPositive();
    assertThat(slice.measure(files, new Slice.How(false, false, false, LONG, 1))).isPositive();
    assertThat(failures.sum()).isZero();
  }

  @Test
  void again_endsWithItsTime() throws Exception {
    List<Path> files = List.of(file("a", 3_000_000));
    assertThat(slice.measure(files, new Slice.How(false, false, true, SHORT, 1))).isPositive();
    assertThat(slice.measure(files, new Slice.How(false, true, true, SHORT, 1))).isPositive();
  }

  /** On a machine that has much else to do, the row of a report stayed empty. */
  @Test
  void timeThatIsOverAtOnce_isEnoughForARead() throws Exception {
    List<Path> files = List.of(file("a", 3_000_000));
    for (boolean random : new boolean[] {false, true}) {
      assertThat(slice.measure(files, new Slice.How(false, random, false, 0, 1))).isPositive();
    }
  }

  @Test
  void fileThatIsGone_isCounted() throws Exception {
    List<Path> files = List.of(temp.resolve("gone"));
    assertThat(slice.measure(files, new Slice.How(true, false, false, LONG, 1))).isNaN();
    assertThat(failures.sum()).isEqualTo(1);
  }

  @Test
  void noFiles_isNoNumber() throws Exception {
    assertThat(slice.measure(List.of(), new Slice.How(true, false, true, LONG, 1))).isNaN();
  }

  @Test
  void medians_ignoreWhatIsNoNumber() {
    assertThat(Bench.median(List.of(3.0, Double.NaN, 1.0, 2.0))).isEqualTo(2);
    assertThat(Bench.median(List.of(Double.NaN))).isNaN();
  }

  @Test
  void roundsOfFiles_areDisjointWhereThereAreEnough() {
    List<Integer> all = List.of(0, 1, 2, 3, 4);
    assertThat(Bench.everyNth(all, 2, 0)).containsExactly(0, 2, 4);
    assertThat(Bench.everyNth(all, 2, 1)).containsExactly(1, 3);
    assertThat(Bench.everyNth(all, 6, 5)).containsExactly(0);
    assertThat(Bench.everyNth(List.of(), 6, 5)).isEmpty();
  }

  private Path file(String name, int size) throws IOException {
    return Files.write(temp.resolve(name), new byte[size]);
  }
}
