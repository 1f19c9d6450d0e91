package io.holdfast.fs.allocate;

import io.holdfast.fs.units.Human;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The mounts of a node, and the memory for all of them. Immutable.
 *
 * @param budget bytes
 */
public record Plan(long budget, List<PlannedMount> mounts) {
  /**
   * Checks what the mounts say together.
   *
   * @throws IllegalArgumentException with one line that names the key and says what to do
   */
  public Plan {
    mounts = List.copyOf(mounts);
    requireNames(mounts);
    requireOneRatePerOrigin(mounts);
    requireRoom(budget, mounts);
  }

  private static void requireNames(List<PlannedMount> mounts) {
    Map<String, Integer> numbers = new HashMap<>();
    for (int i = 0; i < mounts.size(); i++) {
      Integer other = numbers.putIfAbsent(mounts.get(i).name(), i);
      if (other != null) {
        throw new IllegalArgumentException(
            "mounts[%d].name is '%s', and so is mounts[%d].name: give each mount its own name"
                .formatted(i, mounts.get(i).name(), other));
      }
    }
  }

  /**
   * Requires that those who share an origin give it the same rate.
   *
   * @throws IllegalArgumentException where they do not, with one line that says what to do
   */
  public static void requireOneRatePerOrigin(List<PlannedMount> mounts) {
    Map<String, PlannedMount> first = new HashMap<>();
    for (PlannedMount mount : mounts) {
      String origin = mount.rates().sharedOrigin();
      PlannedMount other = origin == null ? null : first.putIfAbsent(origin, mount);
      if (other != null && other.rates().origin() != mount.rates().origin()) {
        throw new IllegalArgumentException(
            ("origin_bytes_per_second of the origin '%s' is %d at '%s' and %d at '%s': give the"
                    + " same rate, that of the whole origin, to all that read it")
                .formatted(
                    origin,
                    other.rates().origin(),
                    other.name(),
                    mount.rates().origin(),
                    mount.name()));
      }
    }
  }

  private static void requireRoom(long budget, List<PlannedMount> mounts) {
    BigInteger floors =
        mounts.stream()
            .map(mount -> BigInteger.valueOf(mount.capacity().least()))
            .reduce(BigInteger.ZERO, BigInteger::add);
    if (floors.compareTo(BigInteger.valueOf(budget)) > 0) {
      throw new IllegalArgumentException(
          ("budget_bytes %s is less than the sum of all capacity_min_bytes, %,d: raise it, or"
                  + " lower one of them")
              .formatted(Human.grouped(budget), floors));
    }
  }
}
