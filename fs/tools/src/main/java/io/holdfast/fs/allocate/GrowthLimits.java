package io.holdfast.fs.allocate;

import java.util.HashMap;
import java.util.Map;

/**
 * The capacities of mounts that would not grow, such as by their {@code --memory}: they are to get
 * no more, so that the others do not give memory up for nothing again and again. A limit ends with
 * the daemon that refused, when somebody else sets another capacity, or after a time that doubles
 * with each refusal. Not thread-safe.
 */
public final class GrowthLimits {
  private static final double LONGEST = 24 * AllocationController.HOLD;

  private final Map<String, Limit> limits = new HashMap<>();

  private record Limit(long daemon, long most, double until, double duration) {}

  /**
   * Notes that a mount would not grow.
   *
   * @param daemon its process
   * @param capacity bytes that it has
   * @param seconds of a clock that never goes back
   */
  public void refused(String mount, long daemon, long capacity, double seconds) {
    Limit before = limits.get(mount);
    boolean again = before != null && before.daemon() == daemon && before.most() == capacity;
    double duration = again ? Math.min(LONGEST, 2 * before.duration()) : AllocationController.HOLD;
    limits.put(mount, new Limit(daemon, capacity, seconds + duration, duration));
  }

  /**
   * Returns the bytes that a mount is to have at most.
   *
   * @param daemon its process
   * @param capacity bytes that it has
   */
  public long most(String mount, long daemon, long capacity, double seconds) {
    Limit limit = limits.get(mount);
    if (limit == null) {
      return Long.MAX_VALUE;
    }
    if (limit.daemon() != daemon || limit.most() != capacity) {
      limits.remove(mount);
      return Long.MAX_VALUE;
    }
    return seconds < limit.until() ? limit.most() : Long.MAX_VALUE;
  }
}
