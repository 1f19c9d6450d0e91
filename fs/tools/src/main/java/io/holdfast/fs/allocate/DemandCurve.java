package io.holdfast.fs.allocate;

import io.holdfast.policy.simulator.FetchModel;

/**
 * The speed of a job as a function of its memory: min(F(x), m), where x is the share of the dataset
 * that is resident. A fixed number of hits makes this a function that is computed and not profiled
 * (Mohan et al., "Looking Beyond GPUs for DNN Scheduling on Multi-Tenant Clusters", OSDI 2022,
 * section 3). It grows ever faster up to the knee, and not at all beyond it. Immutable.
 *
 * @param dataset bytes
 * @param model the rates
 */
public record DemandCurve(long dataset, FetchModel model) {

  /**
   * Returns the curve of a mount.
   *
   * @param origin bytes per second that its origin gives to it
   */
  public static DemandCurve of(PlannedMount mount, double origin) {
    double memory = (double) mount.rates().memory();
    double demand = (double) mount.rates().demand();
    return new DemandCurve(mount.dataset(), new FetchModel(origin, memory, memory, demand));
  }

  /** Returns the bytes per second that the job gets. */
  public double speed(long capacity) {
    return model.speed(share(capacity), 0);
  }

  /** Returns the bytes per second that the job reads from its origin. */
  double originLoad(long capacity) {
    return (1 - share(capacity)) * speed(capacity);
  }

  /** Returns the knee x* in bytes: the least capacity beyond which the job is not faster. */
  public long sufficient() {
    return capacityFor(model.demand());
  }

  /**
   * Returns the least capacity that gives a speed; where none does, the one that gives the
   * greatest.
   *
   * @param speed greater than 0
   */
  long capacityFor(double speed) {
    if (!gains()) {
      return 0;
    }
    FetchModel wanted = new FetchModel(model.origin(), model.memory(), model.network(), speed);
    return (long) Math.min((double) dataset, Math.ceil(wanted.sufficientHitRatio() * dataset));
  }

  /** Tells whether memory is faster than the origin. */
  boolean gains() {
    return model.memory() > model.origin();
  }

  private double share(long capacity) {
    return Math.min(1, (double) capacity / dataset);
  }
}
