package io.holdfast.fs.allocate;

import java.util.List;

/**
 * The fair share of each mount: the budget by weights. A mount whose floor is above that gets its
 * floor, and the others divide the rest by their weights. They also get the share of a mount beyond
 * its ceiling. Stateless.
 */
public final class FairShare {
  private FairShare() {}

  /**
   * Returns the bytes of each mount of a plan; they fit in the budget. Bytes that a mount's dataset
   * does not need are nobody's share: the objective divides them.
   */
  public static long[] of(Plan plan) {
    List<PlannedMount> mounts = plan.mounts();
    long[] shares = of(plan.budget(), mounts.stream().map(PlannedMount::capacity).toList());
    for (int i = 0; i < shares.length; i++) {
      long floor = mounts.get(i).capacity().least();
      shares[i] = Math.max(floor, Math.min(shares[i], mounts.get(i).dataset()));
    }
    return shares;
  }

  /**
   * Returns the highest level, in bytes for a weight of 1, at which all fit. Where not even the
   * floors fit, these.
   */
  static long[] of(long pool, List<Capacity> all) {
    long low = 0;
    long high = Math.max(0, pool);
    while (low < high) {
      long level = high - (high - low) / 2;
      if (fits(level, pool, all)) {
        low = level;
      } else {
        high = level - 1;
      }
    }
    long level = low;
    return all.stream().mapToLong(each -> share(level, each)).toArray();
  }

  private static boolean fits(long level, long pool, List<Capacity> all) {
    long rest = pool;
    for (Capacity each : all) {
      long share = share(level, each);
      if (share > rest) {
        return false;
      }
      rest -= share;
    }
    return true;
  }

  private static long share(long level, Capacity of) {
    boolean beyondAll = level > Long.MAX_VALUE / of.weight();
    long weighed = beyondAll ? Long.MAX_VALUE : level * of.weight();
    return Math.max(of.least(), Math.min(weighed, of.most()));
  }
}
