package io.holdfast.fs.allocate;

import java.util.Arrays;

/**
 * Raises the lowest first. The level of a mount is its speed as a multiple of its own unit; all
 * levels rise together, and a mount that is at its knee or ceiling stays behind. Since each speed
 * is a continuous function of memory that grows up to the knee, this is the max-min fair division
 * (Bertsekas and Gallager, "Data Networks", section 6.5.2): no level can be raised but by lowering
 * one that is not higher. With the speeds of the fair share as units it is fairness; with the sizes
 * of the datasets, where a level is one over the duration of an epoch, it is the least makespan.
 *
 * <p>Cost: a bisection, with one computation of each mount's capacity a step. Immutable.
 */
final class WaterFill implements Goal {
  private static final int BISECTIONS = 100;

  private final double[] units;

  /**
   * Creates one.
   *
   * @param units the speed of each mount at level 1
   */
  WaterFill(double[] units) {
    this.units = units.clone();
  }

  @Override
  public long[] divide(Room room) {
    double low = 0;
    double high = 0;
    for (int i = 0; i < units.length; i++) {
      high = Math.max(high, room.curve(i).model().demand() / units[i]);
    }
    if (fits(high, room)) {
      return filled(high, room);
    }
    for (int i = 0; i < BISECTIONS; i++) {
      double middle = (low + high) / 2;
      if (fits(middle, room)) {
        low = middle;
      } else {
        high = middle;
      }
    }
    long[] capacities = filled(low, room);
    long rest = room.left();
    for (int i = 0; i < capacities.length; i++) {
      rest -= capacities[i] - room.least(i);
    }
    // bytes that rounding has left
    for (int i = 0; i < capacities.length; i++) {
      long more = Math.min(rest, room.most(i) - capacities[i]);
      capacities[i] += more;
      rest -= more;
    }
    return capacities;
  }

  @Override
  public double[] merit(Split split) {
    double[] levels = new double[split.mounts()];
    Arrays.setAll(levels, mount -> split.speed(mount) / units[mount]);
    Arrays.sort(levels);
    return levels;
  }

  private long[] filled(double level, Room room) {
    long[] capacities = new long[units.length];
    Arrays.setAll(
        capacities,
        mount ->
            level == 0
                ? room.least(mount)
                : room.within(mount, room.curve(mount).capacityFor(level * units[mount])));
    return capacities;
  }

  private boolean fits(double level, Room room) {
    long[] capacities = filled(level, room);
    long rest = room.left();
    for (int i = 0; i < capacities.length; i++) {
      long more = capacities[i] - room.least(i);
      if (more > rest) {
        return false;
      }
      rest -= more;
    }
    return true;
  }
}
