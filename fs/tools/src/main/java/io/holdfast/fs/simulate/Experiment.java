package io.holdfast.fs.simulate;

import io.holdfast.policy.simulator.Dataset;
import io.holdfast.policy.simulator.Progress;
import io.holdfast.policy.simulator.Run;
import io.holdfast.policy.simulator.Scenario;
import io.holdfast.policy.simulator.Simulator;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * One scenario, to be played with several policies at several capacities. Immutable.
 *
 * @param scenario the jobs, nodes and orders of reads
 * @param policies names from {@link Simulator#policies()}
 * @param capacities bytes of each node, above 0
 */
public record Experiment(Scenario scenario, List<String> policies, List<Long> capacities) {
  private static final int SWEEP_STEPS = 20;

  /** Drops policies and capacities that are given twice. */
  public Experiment {
    policies = policies.stream().distinct().toList();
    capacities = capacities.stream().distinct().toList();
  }

  /**
   * The hit ratios of one policy over the capacity.
   *
   * @param policy its name
   * @param points in the order of their shares
   */
  public record Curve(String policy, List<Point> points) {}

  /**
   * A point of a curve.
   *
   * @param share of the dataset that fits, 1 for all of it
   * @param hitRatio mean of the epochs after the first
   */
  public record Point(double share, double hitRatio) {}

  /**
   * Parses names of policies.
   *
   * @throws IllegalArgumentException if there is no such policy
   */
  public static List<String> policies(List<String> names) {
    Set<String> policies = new LinkedHashSet<>();
    for (String name : names) {
      if (!Simulator.policies().contains(name)) {
        throw new IllegalArgumentException(
            "'%s' is not known: choose of %s"
                .formatted(name, String.join(", ", Simulator.policies())));
      }
      policies.add(name);
    }
    return List.copyOf(policies);
  }

  /** Plays every policy at every capacity, and returns the runs in this order. */
  public List<Run> runs(Progress progress) {
    List<Run> runs = new ArrayList<>();
    for (String policy : policies) {
      for (long capacity : capacities) {
        runs.add(Simulator.run(scenario, policy, capacity, progress));
      }
    }
    return runs;
  }

  /**
   * Plays every policy at shares from 5% of the dataset to all of it, 5% apart, and at the given
   * capacities.
   */
  public List<Curve> sweep(Progress progress) {
    return policies.stream().map(policy -> curve(policy, progress)).toList();
  }

  private Curve curve(String policy, Progress progress) {
    List<Point> points = new ArrayList<>();
    sweptShares()
        .forEach(
            (share, capacity) ->
                points.add(
                    new Point(
                        share,
                        Simulator.run(scenario, policy, capacity, progress).laterHitRatio())));
    return new Curve(policy, points);
  }

  /** Returns the capacities of a sweep by their shares, the smallest first. */
  private SortedMap<Double, Long> sweptShares() {
    Dataset dataset = scenario.dataset();
    SortedMap<Double, Long> capacities = new TreeMap<>();
    for (int step = 1; step <= SWEEP_STEPS; step++) {
      double share = (double) step / SWEEP_STEPS;
      // a share of a small dataset may be 0 bytes, which is no capacity
      capacities.put(
          share, Math.max(1, step == SWEEP_STEPS ? dataset.weight() : dataset.capacity(share)));
    }
    for (long capacity : this.capacities) {
      // a capacity beyond the whole dataset has no place in the picture, and gives the same as all
      // of it
      if (capacity < dataset.weight() && !capacities.containsValue(capacity)) {
        capacities.put((double) capacity / dataset.weight(), capacity);
      }
    }
    return capacities;
  }

  /** Returns the number of simulations of {@link #runs}. */
  public int runCount() {
    return policies.size() * capacities.size();
  }

  /** Returns the number of simulations of {@link #sweep}. */
  public int sweepCount() {
    return policies.size() * sweptShares().size();
  }
}
