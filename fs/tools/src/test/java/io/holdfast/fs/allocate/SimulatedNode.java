package io.holdfast.fs.allocate;

import io.holdfast.fs.allocate.AllocationController.Reading;
import io.holdfast.fs.allocate.NodeAllocation.Change;
import io.holdfast.fs.figures.Bottleneck;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * A node whose mounts run at the speeds of the model, with what makes a controller's life hard: a
 * mount that grew fills what it got only by what it misses, rates are those of the last seconds and
 * noisy, and the demand of a job is known only once it was met. Time goes in steps of a second.
 */
final class SimulatedNode {
  /** Rates are means over so many seconds. */
  private static final int MEMORY_SECONDS = 20;

  private final Map<String, SimulatedMount> mounts = new LinkedHashMap<>();
  private final SplittableRandom random;
  private final double noise;
  private double seconds;

  /** A mount and its job. */
  static final class SimulatedMount {
    final String name;
    final double dataset;
    double origin;
    double demand;
    double capacity;
    String job = "job-0";
    private double resident;
    private boolean met;
    private double readSeconds;
    private final Deque<Double> origins = new ArrayDeque<>();
    private final Deque<Double> speeds = new ArrayDeque<>();

    SimulatedMount(String name, double dataset, double origin, double demand, double capacity) {
      this.name = name;
      this.dataset = dataset;
      this.origin = origin;
      this.demand = demand;
      this.capacity = capacity;
      this.resident = Math.min(capacity, dataset);
    }

    /** Ends the job. */
    void end() {
      job = "";
    }

    /** Begins another job. */
    void begin(String other, double wanted) {
      job = other;
      demand = wanted;
      met = false;
      readSeconds = 0;
      origins.clear();
      speeds.clear();
    }

    double speed() {
      return job.isEmpty() ? 0 : speedWith(resident);
    }

    /** Returns the speed with so many bytes resident. */
    double speedWith(double bytes) {
      double miss = 1 - Math.min(1, bytes / dataset);
      return miss == 0 ? demand : Math.min(demand, origin / miss);
    }

    private void second() {
      double speed = speed();
      double missed = speed * (1 - Math.min(1, resident / dataset));
      resident = Math.min(Math.min(capacity, dataset), resident + missed);
      met |= !job.isEmpty() && speed >= 0.999 * demand;
      readSeconds += job.isEmpty() ? 0 : 1;
      remember(origins, origin);
      remember(speeds, speed);
    }

    private static void remember(Deque<Double> values, double value) {
      values.addLast(value);
      if (values.size() > MEMORY_SECONDS) {
        values.removeFirst();
      }
    }

    private static double mean(Deque<Double> values) {
      return values.stream().mapToDouble(value -> value).average().orElse(0);
    }

    private Reading reading(SplittableRandom random, double noise) {
      boolean filled = resident >= 0.98 * Math.min(capacity, dataset);
      if (job.isEmpty()) {
        FoundMount idle =
            FoundMount.idle(name, Math.round(capacity), Bounds.NONE, "its jobs have ended");
        return new Reading(idle, 0, filled);
      }
      if (readSeconds < 3) {
        FoundMount left = FoundMount.left(name, Math.round(capacity), "too little was seen");
        return new Reading(left, 0, filled);
      }
      double known = met ? demand : 20 * demand;
      PlannedMount mount =
          new PlannedMount(
              name,
              Math.round(dataset),
              new Rates(
                  null,
                  Math.round(mean(origins) * (1 + noise * (2 * random.nextDouble() - 1))),
                  PlanReader.MOST_RATE,
                  Math.round(known * (1 + noise * (2 * random.nextDouble() - 1))),
                  Bottleneck.UNKNOWN),
              new Capacity(Math.round(capacity), 0, Long.MAX_VALUE, 1));
      double speed = mean(speeds) * (1 + noise * (2 * random.nextDouble() - 1));
      return new Reading(FoundMount.measured(mount, Bounds.NONE, 0, job), speed, filled);
    }
  }

  /** A change of a capacity, and when it was made. */
  record Made(double seconds, Change change, boolean isBack) {}

  SimulatedNode(long seed, double noise) {
    this.random = new SplittableRandom(seed);
    this.noise = noise;
  }

  SimulatedMount add(SimulatedMount mount) {
    mounts.put(mount.name, mount);
    return mount;
  }

  double seconds() {
    return seconds;
  }

  double total() {
    return mounts.values().stream().mapToDouble(mount -> mount.capacity).sum();
  }

  double speed() {
    return mounts.values().stream().mapToDouble(SimulatedMount::speed).sum();
  }

  /** Lets time pass, with a look every five seconds; returns the changes. */
  List<Made> run(AllocationController controller, long budget, double duration) {
    List<Made> made = new ArrayList<>();
    double end = seconds + duration;
    while (seconds < end) {
      mounts.values().forEach(SimulatedMount::second);
      seconds++;
      if (seconds % 5 == 0) {
        List<Reading> readings =
            mounts.values().stream().map(mount -> mount.reading(random, noise)).toList();
        AllocationController.Decision decision = controller.decide(seconds, readings);
        for (Change change : decision.changes()) {
          SimulatedMount mount = Optional.ofNullable(mounts.get(change.mount())).orElseThrow();
          mount.capacity = change.to();
          mount.resident = Math.min(mount.resident, mount.capacity);
          made.add(new Made(seconds, change, decision.isBack()));
          if (total() > budget + 1) {
            throw new AssertionError(
                "at %s s the mounts have %s of %s".formatted(seconds, total(), budget));
          }
        }
        if (!decision.changes().isEmpty()) {
          controller.made(seconds, decision, decision.changes(), readings);
        }
      }
    }
    return made;
  }
}
