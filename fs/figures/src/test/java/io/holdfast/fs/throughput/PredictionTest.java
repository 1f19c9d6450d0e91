package io.holdfast.fs.throughput;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Compares predictions with simulated jobs: from an epoch with 35 % in memory, the speed with other
 * memory is predicted.
 */
class PredictionTest {
  private static final double ORIGIN = 50e6;

  /** A share that differs by more from what comes out is no prediction. */
  private static final double WITHIN = 0.04;

  private static SimulatedJob job(int readers, int processors, double rate, double resident) {
    return new SimulatedJob(readers, processors, rate, ORIGIN, Double.POSITIVE_INFINITY, resident);
  }

  @ParameterizedTest
  @CsvSource({
    // readers, processors, bytes that a processor prepares in a second
    "1, 2, 75e6",
    "1, 1, 150e6",
    "2, 2, 75e6",
    "2, 4, 150e6",
    "4, 2, 75e6",
    "4, 2, 150e6",
    "4, 4, 75e6",
    "8, 2, 75e6",
    "8, 4, 50e6",
    "8, 8, 30e6",
    "16, 4, 75e6"
  })
  void speed_withOtherMemory_isPredicted(int readers, int processors, double rate) {
    Observation seen = job(readers, processors, rate, 0.35).run(1);
    JobModel model = new JobModel(new Evidence(seen, seen, seen, Epochs.site(processors)));
    for (double share : new double[] {0, 0.5, 0.65, 1}) {
      Observation real = job(readers, processors, rate, share).run(2);
      double predicted = model.speed(model.setup().withCapacityShare(share)).orElseThrow();
      assertThat(predicted / real.speed())
          .as("%s from %s: %s", share, seen, model.rates())
          .isBetween(1 - WITHIN, 1 + WITHIN);
    }
  }

  @ParameterizedTest
  @CsvSource({"4, 2, 75e6", "8, 4, 50e6", "4, 4, 75e6"})
  void speed_withOtherWorkers_isPredicted(int readers, int processors, double rate) {
    Observation seen = job(readers, processors, rate, 0.35).run(1);
    JobModel model = new JobModel(new Evidence(seen, seen, seen, Epochs.site(processors)));
    for (int other : new int[] {readers / 2, 2 * readers}) {
      Observation real = job(other, processors, rate, 0.35).run(2);
      double predicted = model.speed(model.setup().withReaders(other)).orElseThrow();
      assertThat(predicted / real.speed())
          .as("%d readers from %s", other, seen)
          .isBetween(1 - 2 * WITHIN, 1 + 2 * WITHIN);
    }
  }
}
