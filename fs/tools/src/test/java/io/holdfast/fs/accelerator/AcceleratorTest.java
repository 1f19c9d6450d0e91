package io.holdfast.fs.accelerator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Iterator;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** AU for batches that are ready at given times. All times are in milliseconds. */
class AcceleratorTest {
  private static final long MILLI = 1_000_000;
  private static final long BEGIN = 1_000_000 * MILLI;

  /** Waits for each batch until its time; when there are no more, until the window ends. */
  private static Accelerator.Usage usage(
      long compute, long lateness, long end, List<Long> readyMillis) throws InterruptedException {
    FakeClock clock = new FakeClock(BEGIN, lateness * MILLI);
    Window window = new Window(clock, end * MILLI);
    Accelerator accelerator = new Accelerator(compute * MILLI, clock);
    Iterator<Long> times = readyMillis.iterator();
    Batches batches =
        () -> {
          long ready = BEGIN + MILLI * (times.hasNext() ? times.next() : end);
          clock.advanceTo(ready);
          return new Batch(100, ready);
        };
    accelerator.run(batches, window);
    clock.advanceTo(window.end());
    return accelerator.usage(window.end());
  }

  /** Batches that one reader makes, each in that time, without waiting for the accelerator. */
  private static List<Long> every(long fetch, int count) {
    return LongStream.rangeClosed(1, count).mapToObj(i -> i * fetch).toList();
  }

  @ParameterizedTest
  @CsvSource({
    // fetch, compute: AU is compute / fetch, at most 1
    "10, 10, 1",
    "5, 10, 1",
    "20, 10, 0.5",
    "40, 10, 0.25",
    "155, 48, 0.31",
  })
  void utilization_ofSteadyBatches_isComputeTimeByFetchTime(
      long fetch, long compute, double utilization) throws Exception {
    int count = 100;
    long end = Math.max(fetch, compute) * count;
    assertThat(usage(compute, 0, end, every(fetch, count)).utilization())
        .isCloseTo(utilization, within(0.01));
  }

  @Test
  void firstStep_isLeftOut() throws Exception {
    // the first batch comes at 1000 and ends at 1010; then nothing is waited for
    Accelerator.Usage usage = usage(10, 0, 1040, List.of(1000L, 1000L, 1000L, 1000L));
    assertThat(usage).isEqualTo(new Accelerator.Usage(3, 300, 300, 0.03, 0.03));
    assertThat(usage.utilization()).isEqualTo(1);
    assertThat(usage.bytesPerSecond()).isEqualTo(10_000);
  }

  @Test
  void stepThatIsNotOver_countsWithItsPart() throws Exception {
    // steps from 10 to 20 (the first), from 30 to 40, and from 50, of which 4 are before the end
    Accelerator.Usage usage = usage(10, 0, 54, List.of(10L, 30L, 50L));
    assertThat(usage).isEqualTo(new Accelerator.Usage(2, 200, 140, 0.014, 0.034));
  }

  @Test
  void waitForABatchThatNeverComes_countsUntilTheEnd() throws Exception {
    Accelerator.Usage usage = usage(10, 0, 1020, List.of(10L, 20L));
    assertThat(usage).isEqualTo(new Accelerator.Usage(1, 100, 100, 0.01, 1));
    assertThat(usage.utilization()).isCloseTo(0.01, within(1e-9));
  }

  @Test
  void sleeperThatWakesLate_losesNothingWhereBatchesWereReady() throws Exception {
    Accelerator.Usage late = usage(10, 3, 110, every(1, 11));
    assertThat(late.utilization()).isEqualTo(1);
    // nor does it hide a wait: the batches come each 20
    assertThat(usage(10, 3, 200, every(20, 10)).utilization()).isCloseTo(0.5, within(0.03));
  }

  @Test
  void lessThanTwoSteps_isNoNumber() throws Exception {
    assertThat(usage(10, 0, 100, List.of()).utilization()).isNaN();
    assertThat(usage(10, 0, 100, List.of(95L)).utilization()).isNaN();
    assertThat(usage(10, 0, 100, List.of(80L)).bytesPerSecond()).isNaN();
  }
}
