package io.holdfast.fs.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Compares predictions with simulated jobs: readers take files from a list, wait for an origin that
 * serves one after the other if the file is not in memory, and compute in time slices of a few
 * processors. From an epoch with 35 % in memory, its speed with other memory is predicted.
 */
class PredictionTest {
  private static final double SIZE = 323_000;
  private static final double ORIGIN = 50e6;
  private static final int FILES = 3000;

  /** A share that differs by more from what comes out is no prediction. */
  private static final double WITHIN = 0.04;

  /** Something happens to a reader. */
  private record Event(double at, long number, int reader, double rest) {}

  /** A job's epoch. Times are in seconds. */
  private static final class Job {
    private static final double SLICE = 0.001;
    private static final double FETCHED = -1;
    private static final double NEXT = -2;

    private final PriorityQueue<Event> events =
        new PriorityQueue<>(
            (a, b) ->
                a.at() == b.at()
                    ? Long.compare(a.number(), b.number())
                    : Double.compare(a.at(), b.at()));
    private final Deque<Event> ready = new ArrayDeque<>();
    private final Random random;
    private final int readers;
    private final int processors;
    private final double processing;
    private final double resident;
    private int busy;
    private long number;
    private double originFree;
    private double stalled;
    private double computed;
    private double now;

    Job(long seed, int readers, int processors, double rate, double resident) {
      this.random = new Random(seed);
      this.readers = readers;
      this.processors = processors;
      this.processing = SIZE / rate;
      this.resident = resident;
    }

    Epochs run() {
      List<Boolean> hits = Arrays.asList(new Boolean[FILES]);
      for (int i = 0; i < FILES; i++) {
        hits.set(i, i < Math.round(resident * FILES));
      }
      Collections.shuffle(hits, random);
      int next = 0;
      for (int reader = 0; reader < readers; reader++) {
        at(0, reader, NEXT);
      }
      double end = 0;
      while (!events.isEmpty()) {
        Event event = events.remove();
        now = event.at();
        if (event.rest() == NEXT) {
          end = now;
          if (next < FILES) {
            begin(event.reader(), hits.get(next++));
          }
        } else if (event.rest() == FETCHED) {
          compute(event.reader());
        } else {
          busy--;
          if (event.rest() > 1e-12) {
            ready.add(event);
          } else {
            at(now, event.reader(), NEXT);
          }
          dispatch();
        }
      }
      long misses = FILES - Math.round(resident * FILES);
      return Epochs.of(2)
          .in(end)
          .bytes((long) (FILES * SIZE))
          .origin((long) (misses * SIZE), stalled)
          .by(readers, computed);
    }

    private void begin(int reader, boolean hit) {
      if (hit) {
        compute(reader);
        return;
      }
      // an origin's times vary a little
      double service = SIZE / ORIGIN * (0.9 + 0.2 * random.nextDouble());
      originFree = Math.max(now, originFree) + service;
      stalled += originFree - now;
      at(originFree, reader, FETCHED);
    }

    private void compute(int reader) {
      double time = processing * (0.8 + 0.4 * random.nextDouble());
      computed += time;
      ready.add(new Event(now, 0, reader, time));
      dispatch();
    }

    private void dispatch() {
      while (busy < processors && !ready.isEmpty()) {
        Event job = ready.remove();
        double slice = Math.min(SLICE, job.rest());
        busy++;
        at(now + slice, job.reader(), Math.max(0, job.rest() - slice));
      }
    }

    private void at(double time, int reader, double rest) {
      events.add(new Event(time, number++, reader, rest));
    }
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
    Observation seen = new Job(1, readers, processors, rate, 0.35).run().seen();
    JobModel model = new JobModel(new Evidence(seen, seen, seen, JobModelTest.site(processors)));
    for (double share : new double[] {0, 0.5, 0.65, 1}) {
      Observation real = new Job(2, readers, processors, rate, share).run().seen();
      double predicted = model.speed(model.setup().withCapacityShare(share)).orElseThrow();
      assertThat(predicted / real.speed())
          .as("%s from %s: %s", share, seen, model.rates())
          .isBetween(1 - WITHIN, 1 + WITHIN);
    }
  }

  @ParameterizedTest
  @CsvSource({"4, 2, 75e6", "8, 4, 50e6", "4, 4, 75e6"})
  void speed_withOtherWorkers_isPredicted(int readers, int processors, double rate) {
    Observation seen = new Job(1, readers, processors, rate, 0.35).run().seen();
    JobModel model = new JobModel(new Evidence(seen, seen, seen, JobModelTest.site(processors)));
    for (int other : new int[] {readers / 2, 2 * readers}) {
      Observation real = new Job(2, other, processors, rate, 0.35).run().seen();
      double predicted = model.speed(model.setup().withReaders(other)).orElseThrow();
      assertThat(predicted / real.speed())
          .as("%d readers from %s", other, seen)
          .isBetween(1 - 2 * WITHIN, 1 + 2 * WITHIN);
    }
  }
}
