package io.holdfast.fs.allocate;

import java.math.BigInteger;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The budget of mounts for which nobody has said one: what they have brought. A mount brings the
 * capacity with which it comes, and what somebody gives it beyond the budget later. When a mount
 * goes, the budget stays, and the others may use what the mount had. A mount that comes then, or
 * comes back, adds only what the mounts that are there have brought beyond the budget: otherwise
 * the budget would grow with each mount that goes and comes. Not thread-safe.
 */
public final class FollowedBudget {
  private final Map<String, Mount> known = new HashMap<>();
  private long bytes;

  /**
   * A mount that is there, or was.
   *
   * @param has bytes, now or when it went
   * @param brought bytes
   */
  private record Mount(long has, long brought) {}

  /**
   * Begins.
   *
   * @param bytes that the mounts have which are there at first
   */
  public FollowedBudget(long bytes) {
    this.bytes = bytes;
  }

  /** Returns the bytes for all mounts together. */
  public long bytes() {
    return bytes;
  }

  /** Follows the mounts that are there; tells whether the budget has grown. */
  public boolean grows(List<FoundMount> mounts) {
    // what has no capacity does not tell it
    List<FoundMount> there = mounts.stream().filter(mount -> mount.capacity() > 0).toList();
    long given = given(there);
    long rest = given;
    BigInteger brought = BigInteger.ZERO;
    for (FoundMount mount : there) {
      long has = mount.capacity();
      Mount before = known.getOrDefault(mount.name(), new Mount(has, has));
      long more = Math.min(rest, Math.max(0, has - before.has()));
      rest -= more;
      Mount now = new Mount(has, NodeAllocation.bounded(sum(before.brought(), more)));
      known.put(mount.name(), now);
      brought = brought.add(BigInteger.valueOf(now.brought()));
    }
    long before = bytes;
    bytes = NodeAllocation.bounded(sum(before, given).max(brought));
    return bytes > before;
  }

  private static BigInteger sum(long one, long other) {
    return BigInteger.valueOf(one).add(BigInteger.valueOf(other));
  }

  /**
   * Returns what somebody has given to known mounts: what they have beyond the budget, and beyond
   * what they had. Others may change capacities within the budget.
   */
  private long given(List<FoundMount> there) {
    BigInteger had = BigInteger.ZERO;
    BigInteger have = BigInteger.ZERO;
    for (FoundMount mount : there) {
      Mount before = known.get(mount.name());
      if (before != null) {
        had = had.add(BigInteger.valueOf(before.has()));
        have = have.add(BigInteger.valueOf(mount.capacity()));
      }
    }
    BigInteger within = had.max(BigInteger.valueOf(bytes));
    return NodeAllocation.bounded(have.subtract(within).max(BigInteger.ZERO));
  }
}
