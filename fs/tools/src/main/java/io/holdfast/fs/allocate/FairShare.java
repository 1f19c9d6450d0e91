package io.holdfast.fs.allocate;

import java.math.BigInteger;
import java.util.List;

/**
 * The fair share of each mount: the budget by weights. A mount whose floor is above that gets its
 * floor, and the others divide the rest by their weights. Nobody's is above its ceiling. Stateless.
 */
public final class FairShare {
  private FairShare() {}

  /** Returns the bytes of each mount; they fit in the budget. */
  public static long[] of(Plan plan) {
    List<PlannedMount> mounts = plan.mounts();
    boolean[] atFloor = new boolean[mounts.size()];
    long[] shares = new long[mounts.size()];
    boolean again = true;
    while (again) {
      again = false;
      long rest = plan.budget();
      long weights = 0;
      for (int i = 0; i < shares.length; i++) {
        Capacity capacity = mounts.get(i).capacity();
        rest -= atFloor[i] ? capacity.least() : 0;
        weights += atFloor[i] ? 0 : capacity.weight();
      }
      for (int i = 0; i < shares.length; i++) {
        Capacity capacity = mounts.get(i).capacity();
        if (!atFloor[i]) {
          shares[i] = part(rest, capacity.weight(), weights);
          atFloor[i] = shares[i] < capacity.least();
          again |= atFloor[i];
        }
      }
    }
    for (int i = 0; i < shares.length; i++) {
      long floor = mounts.get(i).capacity().least();
      shares[i] = Math.max(floor, Math.min(shares[i], mounts.get(i).ceiling()));
    }
    return shares;
  }

  private static long part(long whole, long weight, long weights) {
    return BigInteger.valueOf(whole)
        .multiply(BigInteger.valueOf(weight))
        .divide(BigInteger.valueOf(weights))
        .longValueExact();
  }
}
