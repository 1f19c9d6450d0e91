package io.holdfast.fs.workload;

import io.holdfast.fs.allocate.DemandCurve;
import io.holdfast.fs.allocate.PlannedMount;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.ojalgo.optimisation.Expression;
import org.ojalgo.optimisation.ExpressionsBasedModel;
import org.ojalgo.optimisation.Optimisation;
import org.ojalgo.optimisation.Variable;

/**
 * The greatest total speed of jobs as a linear program, after that of Synergy (Mohan et al., OSDI
 * 2022, section 4.1). A job chooses among points, each a share x of its dataset in memory, and may
 * mix them: y(x) is the part of a point, and v(x), at most y(x) times the speed of the job's model
 * at x with all of its origin, the speed that it contributes.
 *
 * <pre>
 * maximise the sum of all v
 *   of each job    the sum of y      = 1
 *                  the sum of v     >= its floor
 *   of each point  v                <= y times the speed there
 *   of all         the sum of y x D <= memory
 *   of each origin the sum of (1 - x) v <= its rate
 * </pre>
 *
 * <p>Mixing is what makes it a bound: between two points, a job's speed is on the straight line,
 * and the model's is below it. A job with an origin of its own needs two points, no memory and its
 * knee, since all others are below their line. One that shares its origin has more, because memory
 * beyond the knee leaves more of the origin to the others.
 *
 * <p>All variables are parts from 0 to 1, so that the solver sees numbers of one magnitude. Used
 * once; not thread-safe.
 */
final class LinearProgram {
  /** Points between no memory and all of it, for jobs that share an origin. */
  private static final int STEPS = 10;

  /**
   * A greater coefficient would be too much for the solver; with a smaller one it is still a bound.
   */
  private static final double GREATEST = 1e9;

  /** What rounding may take of a floor. */
  private static final double ROUNDING = 1e-6;

  private final ExpressionsBasedModel model = new ExpressionsBasedModel();
  private final List<PlannedMount> mounts;
  private final List<List<Point>> points = new ArrayList<>();

  /** A point, with its variables. */
  private record Point(double share, double speed, Variable part, Variable used) {}

  /**
   * The best that can be.
   *
   * @param shares of the datasets in memory
   * @param speeds bytes per second
   */
  record Solution(List<Double> shares, List<Double> speeds) {}

  /**
   * Makes the program, but for memory.
   *
   * @param known for each job a share of its dataset that is one of its points
   * @param floors bytes per second that a job has with the share that is known, or less
   */
  LinearProgram(List<PlannedMount> mounts, double[] known, double[] floors) {
    this.mounts = List.copyOf(mounts);
    double unit = mounts.stream().mapToDouble(each -> each.rates().demand()).max().orElse(1);
    Map<String, Expression> origins = new HashMap<>();
    for (int i = 0; i < mounts.size(); i++) {
      addJob(mounts.get(i), known[i], floors[i], unit, origins);
    }
  }

  private void addJob(
      PlannedMount mount,
      double known,
      double floor,
      double unit,
      Map<String, Expression> origins) {
    double rate = (double) mount.rates().origin();
    String origin = mount.rates().sharedOrigin();
    DemandCurve curve = DemandCurve.of(mount, rate);
    Expression whole = model.newExpression("parts of " + mount.name()).level(1);
    Expression atLeast =
        model
            .newExpression("floor of " + mount.name())
            .lower(floor * (1 - ROUNDING) / mount.rates().demand());
    List<Point> all = new ArrayList<>();
    for (double share : shares(mount, curve, known)) {
      double speed = curve.speed(Math.round(share * mount.dataset()));
      String name = mount.name() + " at " + share;
      Variable part = model.newVariable("part of " + name).lower(0).upper(1);
      Variable used = model.newVariable("speed of " + name).lower(0).upper(1).weight(speed / unit);
      model.newExpression("most of " + name).upper(0).set(used, 1).set(part, -1);
      whole.set(part, 1);
      atLeast.set(used, speed / mount.rates().demand());
      if (origin != null) {
        origins
            .computeIfAbsent(origin, key -> model.newExpression("origin " + key).upper(1))
            .set(used, (1 - share) * speed / rate);
      }
      all.add(new Point(share, speed, part, used));
    }
    points.add(all);
  }

  private static Set<Double> shares(PlannedMount mount, DemandCurve curve, double known) {
    Set<Double> shares = new TreeSet<>(List.of(0.0, (double) curve.sufficient() / mount.dataset()));
    if (mount.rates().sharedOrigin() != null) {
      shares.add(known);
      for (int step = 1; step <= STEPS; step++) {
        shares.add((double) step / STEPS);
      }
    }
    return shares;
  }

  /** Has all jobs together get so many bytes. */
  void limitMemory(double bytes) {
    Expression memory = model.newExpression("memory").upper(1);
    for (int i = 0; i < points.size(); i++) {
      for (Point point : points.get(i)) {
        double needed = point.share() * mounts.get(i).dataset() / bytes;
        memory.set(point.part(), Math.min(GREATEST, needed));
      }
    }
  }

  /** Has a job get so much of its dataset. */
  void limitShare(int job, double share) {
    Expression memory = model.newExpression("share of " + mounts.get(job).name()).upper(share);
    points.get(job).forEach(point -> memory.set(point.part(), point.share()));
  }

  /**
   * Solves it.
   *
   * @throws IllegalArgumentException where the solver finds no solution
   */
  Solution solve() {
    Optimisation.Result result = model.maximise();
    if (!result.getState().isOptimal()) {
      throw new IllegalArgumentException(
          "the linear program of 'optimum' is not solved (%s): leave that policy out"
              .formatted(result.getState()));
    }
    List<Double> shares = new ArrayList<>();
    List<Double> speeds = new ArrayList<>();
    for (List<Point> each : points) {
      shares.add(each.stream().mapToDouble(point -> point.share() * value(point.part())).sum());
      speeds.add(each.stream().mapToDouble(point -> point.speed() * value(point.used())).sum());
    }
    return new Solution(shares, speeds);
  }

  private static double value(Variable variable) {
    return Math.max(0, Math.min(1, variable.getValue().doubleValue()));
  }
}
