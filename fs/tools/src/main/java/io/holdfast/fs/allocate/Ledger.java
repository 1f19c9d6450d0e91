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

  /** Tells whether a mount may have a capacity now. */
  public boolean allows(String mount, long bytes) {
    long has = capacities.getOrDefault(mount, 0L);
    BigInteger then = sum().subtract(BigInteger.valueOf(has)).add(BigInteger.valueOf(bytes));
    return bytes <= has || then.compareTo(BigInteger.valueOf(budget)) <= 0;
  }

  /** Notes what a mount has now. */
  public void set(String mount, long bytes) {
    capacities.put(mount, bytes);
  }
}
