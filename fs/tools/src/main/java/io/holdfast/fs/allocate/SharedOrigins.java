package io.holdfast.fs.allocate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What each mount gets of its origin, which depends on who else reads it. Immutable.
 *
 * <p>An origin divides its rate R equally among those that read it at a moment, so that all of its
 * mounts see one rate S. A mount with the share x resident and the speed v(x, S) reads (1 - x) v(x,
 * S) from it. This grows with S, and at S = R / n the sum over n mounts is at most R: the S at
 * which the sum is R is unique and found by bisection; where the sum at S = R is less, the origin
 * is not the bottleneck, and S = R.
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
      double rate = rate(group, holding);
      Arrays.stream(group).forEach(mount -> rates[mount] = rate);
    }
    List<DemandCurve> curves = curves(rates);
    long[] capacities = new long[rates.length];
    Arrays.setAll(capacities, mount -> holding.capacity(mount, curves.get(mount)));
    return new Split(capacities, curves);
  }

  private double rate(int[] group, Holding holding) {
    double whole = (double) plan.mounts().get(group[0]).rates().origin();
    if (group.length == 1 || load(group, whole, holding) <= whole) {
      return whole;
    }
    double low = whole / group.length;
    double high = whole;
    for (int i = 0; i < BISECTIONS; i++) {
      double middle = (low + high) / 2;
      if (load(group, middle, holding) <= whole) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private double load(int[] group, double rate, Holding holding) {
    double load = 0;
    for (int mount : group) {
      DemandCurve curve = DemandCurve.of(plan.mounts().get(mount), rate);
      load += curve.originLoad(holding.capacity(mount, curve));
    }
    return load;
  }
}
