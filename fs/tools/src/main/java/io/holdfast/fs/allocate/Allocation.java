package io.holdfast.fs.allocate;

import io.holdfast.fs.figures.Bottleneck;
import java.util.ArrayList;
import java.util.List;

/**
 * The proposed memory of each mount of a node, and its effect. Immutable.
 *
 * @param objective what memory beyond the fair shares serves
 * @param budget bytes
 * @param mounts in the order of the plan
 */
public record Allocation(Objective objective, long budget, List<Share> mounts) {

  /**
   * The proposal for one mount.
   *
   * @param capacities in bytes
   * @param speeds in bytes per second
   * @param originRate bytes per second that its origin then gives to it
   * @param explanation why it has so much
   */
  public record Share(
      PlannedMount mount,
      Capacities capacities,
      Speeds speeds,
      long originRate,
      Explanation explanation) {}

  /**
   * Capacities of a mount in bytes.
   *
   * @param fair its part of the budget by weights
   * @param proposed what it is to have
   * @param sufficient beyond this its job is not faster
   */
  public record Capacities(long fair, long proposed, long sufficient) {}

  /**
   * Bytes per second that a mount's job gets.
   *
   * @param now with the capacity that it has
   * @param fair with its fair share, when the others have theirs
   * @param proposed with the capacity that it is to have
   */
  public record Speeds(long now, long fair, long proposed) {}

  /**
   * Why.
   *
   * @param boundBy what keeps the job from being faster
   * @param reason for its capacity, in a line for people
   */
  public record Explanation(Bottleneck boundBy, String reason) {}

  /** The splits that are compared; the fair shares also as they were before use limited them. */
  record Splits(Split now, List<Long> shares, Split fair, Split proposed) {}

  static Allocation of(Plan plan, Objective objective, Splits splits) {
    List<Share> shares = new ArrayList<>();
    for (int i = 0; i < plan.mounts().size(); i++) {
      PlannedMount mount = plan.mounts().get(i);
      Split proposed = splits.proposed();
      shares.add(
          new Share(
              mount,
              new Capacities(
                  splits.shares().get(i), proposed.capacity(i), proposed.curve(i).sufficient()),
              new Speeds(
                  Math.round(splits.now().speed(i)),
                  Math.round(splits.fair().speed(i)),
                  Math.round(proposed.speed(i))),
              Math.round(proposed.originRate(i)),
              explanation(mount, splits.fair().capacity(i), proposed, i)));
    }
    return new Allocation(objective, plan.budget(), List.copyOf(shares));
  }

  /** Returns the bytes of the budget that nobody is to have. */
  public long unallocated() {
    long rest = budget;
    for (Share share : mounts) {
      rest -= share.capacities().proposed();
    }
    return rest;
  }

  /** Tells whether nobody would be faster with more. */
  boolean isEnough() {
    return mounts.stream()
        .allMatch(
            share ->
                share.capacities().proposed()
                    >= Math.min(share.capacities().sufficient(), share.mount().ceiling()));
  }

  private static Explanation explanation(PlannedMount mount, long fair, Split proposed, int i) {
    DemandCurve curve = proposed.curve(i);
    long capacity = proposed.capacity(i);
    long sufficient = curve.sufficient();
    boolean floor = capacity > 0 && capacity == mount.capacity().least();
    Bottleneck met = mount.rates().demandBound();
    if (mount.rates().demand() <= curve.model().origin()) {
      return new Explanation(met, withFloor("the origin alone meets the demand", floor));
    }
    if (!curve.gains()) {
      return new Explanation(
          Bottleneck.STORAGE, withFloor("memory is no faster than the origin", floor));
    }
    if (capacity >= sufficient) {
      return mount.rates().demand() <= mount.rates().memory()
          ? new Explanation(
              met, withFloor("the demand is met: more would bring nothing", capacity > sufficient))
          : new Explanation(Bottleneck.UNKNOWN, "all of the dataset is in memory");
    }
    if (capacity == mount.ceiling()) {
      return new Explanation(Bottleneck.STORAGE, "at its capacity_max_bytes");
    }
    if (capacity > fair) {
      return new Explanation(Bottleneck.STORAGE, "what is left beyond the fair shares");
    }
    return new Explanation(
        Bottleneck.STORAGE,
        floor
            ? "its capacity_min_bytes: more serves the others better"
            : "the speed of its fair share: more serves the others better");
  }

  private static String withFloor(String reason, boolean floor) {
    return floor ? reason + "; capacity_min_bytes is kept" : reason;
  }
}
