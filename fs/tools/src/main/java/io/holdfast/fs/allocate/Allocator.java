package io.holdfast.fs.allocate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Divides a node's memory among its mounts, as Synergy does for a cluster (Mohan et al., "Looking
 * Beyond GPUs for DNN Scheduling on Multi-Tenant Clusters", OSDI 2022): nobody is slower than with
 * the fair share, and what the others do not need goes to who gains, up to the knee and never
 * beyond it.
 *
 * <p>Where mounts share an origin, its rate for each of them depends on the division, and the best
 * division on the rates: a fixed point. From the rates at the fair shares, and again from those of
 * origins that nobody else reads, the objective divides, the rates that follow are computed, and
 * the next division is made with the mean of both; the best of all that came out is taken, if
 * nobody is slower in it than with the fair share. The first that comes out never is: more memory
 * for one slows nobody ({@link SharedOrigins}). The mean and the second start are needed: a mount
 * that is nearly all in memory leaves the origin to the others, and only then do they need less
 * memory for the speed of their fair shares, so that there can be several fixed points. Stateless.
 */
public final class Allocator {
  private static final int MOST_ROUNDS = 20;
  private static final int LEAST_ROUNDS = 3;

  /** Rounds times mounts: of many mounts, one changes little for the others. */
  private static final int WORK = 800;

  /** Rates and figures are the same when they differ by less than this part of them. */
  private static final double SAME = 1e-7;

  /** A speed that is less by a smaller part is not slower than that of the fair share. */
  private static final double FAIR = 1e-6;

  private Allocator() {}

  /** Returns what each mount is to have. */
  public static Allocation allocate(Plan plan, Objective objective) {
    SharedOrigins origins = new SharedOrigins(plan);
    long[] shares = FairShare.of(plan);
    Split fair = origins.ofUseful(shares);
    Split now =
        origins.of(plan.mounts().stream().mapToLong(mount -> mount.capacity().now()).toArray());
    Split best = best(plan, origins, fair, goal(objective, plan, fair));
    List<Long> parts = Arrays.stream(shares).boxed().toList();
    return Allocation.of(plan, objective, new Allocation.Splits(now, parts, fair, best));
  }

  private static Split best(Plan plan, SharedOrigins origins, Split fair, Goal goal) {
    double[] first = rates(fair);
    List<double[]> starts = new ArrayList<>(List.of(first));
    if (!origins.none()) {
      starts.add(origins.unshared());
    }
    int rounds = Math.max(LEAST_ROUNDS, Math.min(MOST_ROUNDS, WORK / fair.mounts()));
    @Nullable Split best = null;
    for (double[] start : starts) {
      double[] rates = start;
      for (int round = 0; round < rounds; round++) {
        Room room = new Room(plan, fair, origins.curves(rates));
        Split next = origins.ofUseful(goal.divide(room));
        if (isFair(next, fair) && (best == null || isBetter(goal, next, best))) {
          best = next;
        }
        double[] following = rates(next);
        if (areNear(rates, following)) {
          break;
        }
        rates = mean(rates, following);
      }
    }
    return best == null ? fair : best;
  }

  private static Goal goal(Objective objective, Plan plan, Split fair) {
    double[] units = new double[fair.mounts()];
    return switch (objective) {
      case THROUGHPUT -> new TotalSpeed();
      case FAIRNESS -> {
        Arrays.setAll(units, fair::speed);
        yield new WaterFill(units);
      }
      case MAKESPAN -> {
        Arrays.setAll(units, mount -> (double) plan.mounts().get(mount).dataset());
        yield new WaterFill(units);
      }
    };
  }

  /** The sum of all speeds. */
  private static final class TotalSpeed implements Goal {
    @Override
    public long[] divide(Room room) {
      return new ConvexKnapsack(room).solve();
    }

    @Override
    public double[] merit(Split split) {
      double total = 0;
      for (int i = 0; i < split.mounts(); i++) {
        total += split.speed(i);
      }
      return new double[] {total};
    }
  }

  private static double[] rates(Split split) {
    double[] rates = new double[split.mounts()];
    Arrays.setAll(rates, split::originRate);
    return rates;
  }

  private static boolean isFair(Split split, Split fair) {
    for (int i = 0; i < split.mounts(); i++) {
      if (split.speed(i) < fair.speed(i) * (1 - FAIR)) {
        return false;
      }
    }
    return true;
  }

  private static boolean isBetter(Goal goal, Split split, Split than) {
    double[] merit = goal.merit(split);
    double[] other = goal.merit(than);
    for (int i = 0; i < merit.length; i++) {
      if (!isNear(merit[i], other[i])) {
        return merit[i] > other[i];
      }
    }
    return false;
  }

  private static boolean areNear(double[] rates, double[] others) {
    for (int i = 0; i < rates.length; i++) {
      if (!isNear(rates[i], others[i])) {
        return false;
      }
    }
    return true;
  }

  private static boolean isNear(double a, double b) {
    return Math.abs(a - b) <= SAME * Math.max(a, b);
  }

  private static double[] mean(double[] rates, double[] others) {
    double[] mean = new double[rates.length];
    Arrays.setAll(mean, i -> (rates[i] + others[i]) / 2);
    return mean;
  }
}
