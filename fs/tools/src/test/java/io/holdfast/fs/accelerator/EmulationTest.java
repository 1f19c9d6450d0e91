package io.holdfast.fs.accelerator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EmulationTest {
  private static final long HOUR = 3_600_000_000_000L;

  private static Training training(int batch, long computeNanos, int workers) {
    return new Training("custom", "", 0, 0, batch, computeNanos, workers, 0.9);
  }

  @Test
  void readersOfAllAccelerators_divideTheFiles() throws Exception {
    FakeStorage storage = new FakeStorage(1000, 1, Integer.MAX_VALUE);
    Window window = new Window(Clock.SYSTEM, HOUR);
    Emulation emulation = new Emulation(storage, training(3, HOUR, 2), 4, Clock.SYSTEM);
    Thread ender =
        new Thread(
            () -> {
              // each reader has two batches, and each accelerator has taken one
              while (storage.readSamples() < 8 * 2 * 3 + 4 * 3) {
                Thread.onSpinWait();
              }
              window.endNow();
            },
            "ender");
    ender.start();
    Emulation.Outcome outcome = emulation.run(11, window);
    assertThat(outcome.bytesRead()).isEqualTo(10L * (8 * 2 * 3 + 4 * 3));
    List<Integer> read = storage.read().stream().flatMap(List::stream).toList();
    assertThat(read).hasSize(60).doesNotHaveDuplicates();
    assertThat(storage.read()).hasSize(8).allSatisfy(own -> assertThat(own).isNotEmpty());
    assertThat(outcome.usages()).hasSize(4);
    assertThat(outcome.utilization()).isNaN();
    assertThat(storage.openReaders()).isZero();
  }

  @Test
  void steps_takeWhatWasRead() throws Exception {
    FakeStorage storage = new FakeStorage(50, 1, Integer.MAX_VALUE);
    Window window = new Window(Clock.SYSTEM, HOUR);
    Thread ender =
        new Thread(
            () -> {
              while (storage.readSamples() < 500) {
                Thread.onSpinWait();
              }
              window.endNow();
            },
            "ender");
    ender.start();
    Emulation.Outcome outcome =
        new Emulation(storage, training(5, 1_000, 2), 2, Clock.SYSTEM).run(11, window);
    long steps = outcome.usages().stream().mapToLong(Accelerator.Usage::steps).sum();
    long bytes = outcome.usages().stream().mapToLong(Accelerator.Usage::bytes).sum();
    assertThat(bytes).isEqualTo(steps * 5 * 10).isLessThanOrEqualTo(outcome.bytesRead());
    // but for the first steps, what was read is what steps took and what was ahead of them
    assertThat(outcome.bytesRead() - bytes).isLessThanOrEqualTo(10L * 5 * (2 + 2 * 2 * 2 + 2));
    assertThat(outcome.usages())
        .allSatisfy(usage -> assertThat(usage.busySeconds()).isBetween(0.0, usage.seconds()));
  }

  @Test
  void fileThatCannotBeRead_endsTheRun() {
    FakeStorage storage = new FakeStorage(50, 1, 100);
    Window window = new Window(Clock.SYSTEM, HOUR);
    Emulation emulation = new Emulation(storage, training(5, 1_000, 2), 2, Clock.SYSTEM);
    assertThatThrownBy(() -> emulation.run(11, window))
        .isInstanceOf(IOException.class)
        .hasMessage("no more");
    assertThat(storage.openReaders()).isZero();
  }

  @Test
  void rowOfSeveral_hasTheirMean() {
    Emulation.Outcome outcome =
        new Emulation.Outcome(
            List.of(
                new Accelerator.Usage(10, 1000, 950, 5, 10),
                new Accelerator.Usage(8, 800, 800, 4, 5)),
            2000);
    AcceleratorReport.Row row = AcceleratorReport.Row.of(Target.MOUNT, 2, outcome, 500);
    assertThat(row)
        .isEqualTo(new AcceleratorReport.Row(Target.MOUNT, 2, 0.65, 255, 8, 1800, 10, 2000, 500));
  }
}
