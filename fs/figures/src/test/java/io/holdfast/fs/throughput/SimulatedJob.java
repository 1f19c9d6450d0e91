package io.holdfast.fs.throughput;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;

/**
 * A job as a pipeline: readers take files from a list, wait for an origin that serves one after the
 * other if the file is not in memory, compute in time slices of a few processors, and put what they
 * have made into a queue with room for two files of each. A consumer takes from that. Rates are in
 * bytes per second. Immutable.
 *
 * @param rate what a processor prepares
 * @param origin S
 * @param accelerator G; infinite for none
 * @param resident share of the files in memory
 */
record SimulatedJob(
    int readers, int processors, double rate, double origin, double accelerator, double resident) {
  private static final double SIZE = 323_000;
  private static final int FILES = 3000;

  /** Returns what is seen of an epoch. */
  Observation run(long seed) {
    return new Epoch(this, new Random(seed)).run().seen();
  }

  /** Something happens to a reader, or to the consumer. */
  private record Event(double at, long number, Kind kind, int reader, double rest) {}

  private enum Kind {
    NEXT,
    FETCHED,
    COMPUTED,
    CONSUMED
  }

  /** An epoch. Times are in seconds. */
  private static final class Epoch {
    private static final double SLICE = 0.001;
    private static final double NOTHING = 1e-12;

    private final SimulatedJob job;
    private final Random random;
    private final PriorityQueue<Event> events =
        new PriorityQueue<>(
            (a, b) ->
                a.at() == b.at()
                    ? Long.compare(a.number(), b.number())
                    : Double.compare(a.at(), b.at()));
    private final Deque<Event> ready = new ArrayDeque<>();
    private final Deque<Integer> heldUp = new ArrayDeque<>();
    private final List<Boolean> hits = Arrays.asList(new Boolean[FILES]);
    private final long resident;
    private int next;
    private int made;
    private boolean consumes;
    private int busy;
    private long number;
    private double originFree;
    private double stalled;
    private double computed;
    private double waited;
    private double now;

    Epoch(SimulatedJob job, Random random) {
      this.job = job;
      this.random = random;
      resident = Math.round(job.resident() * FILES);
      for (int i = 0; i < FILES; i++) {
        hits.set(i, i < resident);
      }
      Collections.shuffle(hits, random);
    }

    Epochs run() {
      for (int reader = 0; reader < job.readers(); reader++) {
        at(0, Kind.NEXT, reader, 0);
      }
      while (!events.isEmpty()) {
        Event event = events.remove();
        now = event.at();
        switch (event.kind()) {
          case NEXT -> begin(event.reader());
          case FETCHED -> compute(event.reader());
          case COMPUTED -> computed(event);
          case CONSUMED -> consumed();
        }
      }
      return Epochs.of(2)
          .in(now)
          .bytes((long) (FILES * SIZE))
          .origin((long) ((FILES - resident) * SIZE), stalled)
          .by(job.readers(), computed)
          .waitingForProcessors(waited);
    }

    private void begin(int reader) {
      if (next == FILES) {
        return;
      }
      if (hits.get(next++)) {
        compute(reader);
        return;
      }
      // an origin's times vary a little
      double service = SIZE / job.origin() * (0.9 + 0.2 * random.nextDouble());
      originFree = Math.max(now, originFree) + service;
      stalled += originFree - now;
      at(originFree, Kind.FETCHED, reader, 0);
    }

    private void compute(int reader) {
      double time = SIZE / job.rate() * (0.8 + 0.4 * random.nextDouble());
      computed += time;
      ready.add(new Event(now, 0, Kind.COMPUTED, reader, time));
      dispatch();
    }

    private void computed(Event event) {
      busy--;
      if (event.rest() > NOTHING) {
        ready.add(event);
      } else if (Double.isInfinite(job.accelerator())) {
        at(now, Kind.NEXT, event.reader(), 0);
      } else {
        put(event.reader());
      }
      dispatch();
    }

    private void put(int reader) {
      if (made == 2 * job.readers()) {
        heldUp.add(reader);
        return;
      }
      made++;
      at(now, Kind.NEXT, reader, 0);
      consume();
    }

    private void consume() {
      if (!consumes && made > 0) {
        made--;
        consumes = true;
        at(now + SIZE / job.accelerator(), Kind.CONSUMED, 0, 0);
        if (!heldUp.isEmpty()) {
          put(heldUp.remove());
        }
      }
    }

    private void consumed() {
      consumes = false;
      consume();
    }

    private void dispatch() {
      while (busy < job.processors() && !ready.isEmpty()) {
        Event turn = ready.remove();
        waited += now - turn.at();
        double slice = Math.min(SLICE, turn.rest());
        busy++;
        at(now + slice, Kind.COMPUTED, turn.reader(), Math.max(0, turn.rest() - slice));
      }
    }

    private void at(double time, Kind kind, int reader, double rest) {
      events.add(new Event(time, number++, kind, reader, rest));
    }
  }
}
