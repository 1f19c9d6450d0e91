package io.holdfast.fs.allocate;

import java.util.List;

/** Memory divided among the mounts of a plan, and the curves that hold then. Immutable. */
public final class Split {
  private final long[] capacities;
  private final List<DemandCurve> curves;

  Split(long[] capacities, List<DemandCurve> curves) {
    this.capacities = capacities.clone();
    this.curves = List.copyOf(curves);
  }

  int mounts() {
    return capacities.length;
  }

  /** Returns the bytes of a mount. */
  public long capacity(int mount) {
    return capacities[mount];
  }

  DemandCurve curve(int mount) {
    return curves.get(mount);
  }

  /** Returns the bytes per second that a mount's job gets. */
  public double speed(int mount) {
    return curve(mount).speed(capacities[mount]);
  }

  double originRate(int mount) {
    return curve(mount).model().origin();
  }
}
