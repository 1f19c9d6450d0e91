package io.holdfast.fs.allocate;

import java.util.List;

/**
 * What may be divided: each mount keeps at least what gives the speed of its fair share, and takes
 * at most what its knee and its ceiling allow. Immutable.
 */
final class Room {
  private final List<DemandCurve> curves;
  private final long[] least;
  private final long[] most;
  private final long left;

  /**
   * Computes it.
   *
   * @param fair what each mount keeps; fits in the budget
   * @param curves that hold
   */
  Room(Plan plan, Split fair, List<DemandCurve> curves) {
    this.curves = curves;
    least = new long[fair.mounts()];
    most = new long[fair.mounts()];
    long rest = plan.budget();
    for (int i = 0; i < least.length; i++) {
      least[i] = leastOf(plan.mounts().get(i), fair, i);
      long useful = Math.min(curves.get(i).sufficient(), plan.mounts().get(i).ceiling());
      most[i] = Math.max(least[i], useful);
      rest -= least[i];
    }
    left = rest;
  }

  private long leastOf(PlannedMount mount, Split fair, int i) {
    DemandCurve curve = curves.get(i);
    if (curve.model().origin() <= fair.originRate(i)) {
      return fair.capacity(i);
    }
    // A faster origin gives the same speed with less memory.
    long needed = Math.min(fair.capacity(i), curve.capacityFor(fair.speed(i)));
    return Math.max(needed, mount.capacity().least());
  }

  int mounts() {
    return least.length;
  }

  DemandCurve curve(int mount) {
    return curves.get(mount);
  }

  long least(int mount) {
    return least[mount];
  }

  long most(int mount) {
    return most[mount];
  }

  /** Returns the bytes beyond what each mount keeps. */
  long left() {
    return left;
  }

  /** Returns a capacity within the bounds of a mount. */
  long within(int mount, long capacity) {
    return Math.max(least[mount], Math.min(capacity, most[mount]));
  }
}
