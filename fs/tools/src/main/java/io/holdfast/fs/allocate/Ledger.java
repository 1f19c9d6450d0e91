package io.holdfast.fs.allocate;

import java.math.BigInteger;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The capacities of mounts while they change, one after the other: a mount grows only by what
 * others have given up, so that together they never exceed the budget, or what they had at first
 * where that was more. Not thread-safe.
 */
public final class Ledger {
  private final long budget;
  private final Map<String, Long> capacities = new HashMap<>();

  /**
   * Begins with what mounts have.
   *
   * @param budget bytes for all of them
   */
  public Ledger(long budget, List<FoundMount> mounts) {
    this.budget = budget;
    mounts.forEach(mount -> capacities.put(mount.name(), mount.capacity()));
  }

  /** Returns the bytes that all mounts have together. */
  public long total() {
    return NodeAllocation.bounded(sum());
  }

  /** A daemon may tell any capacity, so that the sum may be more than a long can hold. */
  private BigInteger sum() {
    return capacities.values().stream()
        .map(BigInteger::valueOf)
        .reduce(BigInteger.ZERO, BigInteger::add);
  }

  /** Returns the most bytes that a mount may have now: what it has, and what no mount has. */
  public long most(String mount) {
    BigInteger left = BigInteger.valueOf(budget).subtract(sum()).max(BigInteger.ZERO);
    return NodeAllocation.bounded(left.add(BigInteger.valueOf(capacities.getOrDefault(mount, 0L))));
  }

  /** Notes what a mount has now. */
  public void set(String mount, long bytes) {
    capacities.put(mount, bytes);
  }
}
