package io.holdfast.fs.allocate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What each mount gets of its origin, which depends on who else reads it. Immutable.
 *
 * <p>An origin that is busy serves one request after the other, so that its rate R is divided in
 * proportion to the readers that wait for it: a mount with w readers sees the rate S = w r, and at
 * most R. A mount with the share x resident and the speed v(x, S) reads (1 - x) v(x, S) from it.
 * This grows with S, and where the sum of all S is R, the sum of what is read is at most R: the r
 * at which that sum is R is unique and found by bisection. Where the sum is less when all S are R,
 * the origin is not the bottleneck.
 *
 * <p>More memory for one mount never slows another: a mount reads less from the origin with it, and
 * S can only grow. This also holds where memory beyond the knee is left to others: the knee falls
 * when S grows, and S is then the root of a sum that still grows with S.
 */
public final class SharedOrigins {
  private static final int BISECTIONS = 60;

  private final Plan plan;
  private final List<int[]> groups;

  /** Takes the mounts, and which of them share an origin. */
  public SharedOrigins(Plan plan) {
    this.plan = plan;
    Map<String, List<Integer>> shared = new HashMap<>();
    List<int[]> found = new ArrayList<>();
    for (int i = 0; i < plan.mounts().size(); i++) {
      String origin = plan.mounts().get(i).rates().sharedOrigin();
      if (origin == null) {
        found.add(new int[] {i});
      } else {
        shared.computeIfAbsent(origin, name -> new ArrayList<>()).add(i);
      }
    }
    shared.values().forEach(group -> found.add(group.stream().mapToInt(i -> i).toArray()));
    this.groups = List.copyOf(found);
  }

  /** The capacity of a mount, given the curve that holds. */
  private interface Holding {
    long capacity(int mount, DemandCurve curve);
  }

  /** Tells whether no origin has more than one mount. */
  boolean none() {
    return groups.stream().allMatch(group -> group.length == 1);
  }

  /** Returns the rates of the origins, as each mount would have them alone. */
  double[] unshared() {
    return plan.mounts().stream()
        .mapToLong(mount -> mount.rates().origin())
        .asDoubleStream()
        .toArray();
  }

  /** Returns what comes of these capacities. */
  public Split of(long[] capacities) {
    return split((mount, curve) -> capacities[mount]);
  }

  /**
   * Returns what comes of at most these capacities, of which no mount keeps what is no use to it.
   */
  public Split ofUseful(long[] most) {
    return split(
        (mount, curve) ->
            Math.max(
                plan.mounts().get(mount).capacity().least(),
                Math.min(most[mount], curve.sufficient())));
  }

  /** Returns the curves of all mounts at these rates of their origins. */
  List<DemandCurve> curves(double[] rates) {
    List<DemandCurve> curves = new ArrayList<>();
    for (int i = 0; i < rates.length; i++) {
      curves.add(DemandCurve.of(plan.mounts().get(i), rates[i]));
    }
    return curves;
  }

  private Split split(Holding holding) {
    double[] rates = new double[plan.mounts().size()];
    for (int[] group : groups) {
      solve(group, holding, rates);
    }
    List<DemandCurve> curves = curves(rates);
    long[] capacities = new long[rates.length];
    Arrays.setAll(capacities, mount -> holding.capacity(mount, curves.get(mount)));
    return new Split(capacities, curves);
  }

  /** Sets the rates of the mounts of an origin. */
  private void solve(int[] group, Holding holding, double[] rates) {
    double whole = (double) plan.mounts().get(group[0]).rates().origin();
    double readers = 0;
    double fewest = Double.POSITIVE_INFINITY;
    for (int mount : group) {
      readers += readers(mount);
      fewest = Math.min(fewest, readers(mount));
    }
    // twice what is enough, so that rounding leaves nobody below the whole rate
    double high = 2 * whole / fewest;
    divide(group, high, whole, rates);
    if (group.length == 1 || load(group, rates, holding) <= whole) {
      return;
    }
    double low = whole / readers;
    for (int i = 0; i < BISECTIONS; i++) {
      double middle = (low + high) / 2;
      divide(group, middle, whole, rates);
      if (load(group, rates, holding) <= whole) {
        low = middle;
      } else {
        high = middle;
      }
    }
    divide(group, low, whole, rates);
  }

  private double readers(int mount) {
    return plan.mounts().get(mount).rates().readers();
  }

  private void divide(int[] group, double perReader, double whole, double[] rates) {
    for (int mount : group) {
      rates[mount] = Math.min(whole, readers(mount) * perReader);
    }
  }

  private double load(int[] group, double[] rates, Holding holding) {
    double load = 0;
    for (int mount : group) {
      DemandCurve curve = DemandCurve.of(plan.mounts().get(mount), rates[mount]);
      load += curve.originLoad(holding.capacity(mount, curve));
    }
    return load;
  }
}
