package io.holdfast.fs.allocate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Proposals for random mixes of two to five mounts beside the optimum, which is found here by other
 * means and with formulas of its own: by trying all vertices, and by dynamic programming over a
 * grid of capacities, which takes nothing of the curves for granted.
 */
class OptimumTest {
  private static final int MIXES = 10_000;
  private static final int GRID_MIXES = 200;
  private static final int STEPS = 300;

  /** What the formulas say of a plan, in fractions of bytes. */
  private static final class Reference {
    private final Plan plan;
    private final double[] fair;
    private final double[] knees;

    private Reference(Plan plan, double[] fair, double[] knees) {
      this.plan = plan;
      this.fair = fair;
      this.knees = knees;
    }

    double fairSpeed(int i) {
      return speed(i, fair[i]);
    }

    double knee(int i) {
      return knees[i];
    }

    static Reference of(Plan plan) {
      int n = plan.mounts().size();
      double[] fair = new double[n];
      double[] knees = new double[n];
      double weights = plan.mounts().stream().mapToLong(mount -> mount.capacity().weight()).sum();
      for (int i = 0; i < n; i++) {
        PlannedMount mount = plan.mounts().get(i);
        knees[i] = knee(mount);
        double share = plan.budget() * (mount.capacity().weight() / weights);
        fair[i] = Math.min(share, knees[i]);
      }
      return new Reference(plan, fair, knees);
    }

    private static double knee(PlannedMount mount) {
      double s = mount.rates().origin();
      double c = mount.rates().memory();
      double m = mount.rates().demand();
      if (m <= s || c <= s) {
        return 0;
      }
      return m >= c ? mount.dataset() : mount.dataset() * (1 / s - 1 / m) / (1 / s - 1 / c);
    }

    int mounts() {
      return fair.length;
    }

    double speed(int i, double capacity) {
      PlannedMount mount = plan.mounts().get(i);
      double x = Math.min(1, capacity / (double) mount.dataset());
      double fetch = 1 / (x / mount.rates().memory() + (1 - x) / mount.rates().origin());
      return Math.min(fetch, (double) mount.rates().demand());
    }

    double room() {
      return plan.budget() - Arrays.stream(fair).sum();
    }

    /** The greatest total of all choices of mounts at their knee and one that takes the rest. */
    double bestVertex() {
      double best = 0;
      for (int full = 0; full < 1 << mounts(); full++) {
        double rest = room();
        for (int i = 0; i < mounts(); i++) {
          rest -= (full >> i & 1) == 1 ? knees[i] - fair[i] : 0;
        }
        for (int partial = 0; rest >= -1 && partial < mounts(); partial++) {
          double total = 0;
          for (int i = 0; i < mounts(); i++) {
            double more = i == partial ? Math.max(0, rest) : 0;
            total += speed(i, (full >> i & 1) == 1 ? knees[i] : Math.min(knees[i], fair[i] + more));
          }
          best = Math.max(best, total);
        }
      }
      return best;
    }

    /** The best of a grid, where what a mount gives is summed up, or the least of all counts. */
    double bestOfGrid(double[] units, boolean sum) {
      double step = Math.max(0, room()) / STEPS;
      double[] best = new double[STEPS + 1];
      Arrays.fill(best, sum ? 0 : Double.MAX_VALUE);
      for (int i = 0; i < mounts(); i++) {
        double[] values = new double[STEPS + 1];
        for (int k = 0; k <= STEPS; k++) {
          values[k] = speed(i, Math.min(knees[i], fair[i] + k * step)) / units[i];
        }
        double[] next = new double[STEPS + 1];
        for (int all = 0; all <= STEPS; all++) {
          for (int k = 0; k <= all; k++) {
            double before = best[all - k];
            double value = sum ? before + values[k] : Math.min(before, values[k]);
            next[all] = Math.max(next[all], value);
          }
        }
        best = next;
      }
      return best[STEPS];
    }
  }

  private static double total(Allocation allocation) {
    return allocation.mounts().stream().mapToDouble(share -> share.speeds().proposed()).sum();
  }

  @Test
  void throughput_ofAnyMix_isNearTheOptimum() {
    for (int seed = 0; seed < MIXES; seed++) {
      Plan plan = Plans.random(new SplittableRandom(seed), 2 + seed % 4);
      Reference reference = Reference.of(plan);
      Allocation allocation = Allocator.allocate(plan, Objective.THROUGHPUT);
      double ratio = total(allocation) / reference.bestVertex();
      assertThat(ratio).as("seed %d", seed).isBetween(0.9999, 1.000001);
      for (int i = 0; i < reference.mounts(); i++) {
        Allocation.Share share = allocation.mounts().get(i);
        assertThat(share.speeds().proposed() + 1.0)
            .as("seed %d, mount %d", seed, i)
            .isGreaterThanOrEqualTo(reference.fairSpeed(i) * 0.999999);
        assertThat((double) share.capacities().proposed())
            .as("seed %d, mount %d", seed, i)
            .isLessThanOrEqualTo(reference.knee(i) * 1.000001 + 1);
      }
      assertThat(allocation.unallocated()).as("seed %d", seed).isNotNegative();
    }
  }

  @Test
  void vertices_holdTheOptimum() {
    for (int seed = 0; seed < GRID_MIXES; seed++) {
      Reference reference = Reference.of(Plans.random(new SplittableRandom(seed), 2 + seed % 4));
      double[] units = new double[reference.mounts()];
      Arrays.fill(units, 1);
      assertThat(reference.bestOfGrid(units, true))
          .as("seed %d", seed)
          .isLessThanOrEqualTo(reference.bestVertex() * 1.000001);
    }
  }

  @Test
  void fairness_ofAnyMix_raisesTheLeastGain() {
    for (int seed = 0; seed < GRID_MIXES; seed++) {
      Plan plan = Plans.random(new SplittableRandom(seed), 2 + seed % 4);
      Reference reference = Reference.of(plan);
      double[] units = new double[reference.mounts()];
      Arrays.setAll(units, i -> reference.fairSpeed(i));
      assertLeast(plan, Objective.FAIRNESS, units, reference.bestOfGrid(units, false), seed);
    }
  }

  @Test
  void makespan_ofAnyMix_shortensTheLongestEpoch() {
    for (int seed = 0; seed < GRID_MIXES; seed++) {
      Plan plan = Plans.random(new SplittableRandom(seed), 2 + seed % 4);
      double[] units = plan.mounts().stream().mapToDouble(PlannedMount::dataset).toArray();
      double grid = Reference.of(plan).bestOfGrid(units, false);
      assertLeast(plan, Objective.MAKESPAN, units, grid, seed);
    }
  }

  private static void assertLeast(
      Plan plan, Objective objective, double[] units, double grid, int seed) {
    List<Allocation.Share> shares = Allocator.allocate(plan, objective).mounts();
    double least = Double.MAX_VALUE;
    for (int i = 0; i < units.length; i++) {
      least = Math.min(least, shares.get(i).speeds().proposed() / units[i]);
    }
    assertThat(least).as("seed %d", seed).isGreaterThanOrEqualTo(grid * 0.999999);
  }

  /**
   * A thousand epochs of a step-wise fill would not see it: it begins with who is steep at once.
   */
  @Test
  void throughput_whereASteepMountGainsLittle_fillsTheOther() {
    Plan plan =
        new Plan(
            100 * Plans.GB,
            List.of(
                Plans.mount("steep", 100 * Plans.GB, 100, 1_000_000, 300),
                Plans.mount("late", 100 * Plans.GB, 90, 1_000_000, 1_000_000)));

    List<Allocation.Share> shares = Allocator.allocate(plan, Objective.THROUGHPUT).mounts();

    assertThat(shares.get(0).speeds().proposed()).isCloseTo(200, within(1L));
    assertThat(shares.get(1).capacities().proposed()).isEqualTo(50 * Plans.GB);
  }
}
