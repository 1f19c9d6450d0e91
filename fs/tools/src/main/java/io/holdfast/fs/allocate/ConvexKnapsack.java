package io.holdfast.fs.allocate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Gives memory where the sum of all speeds gains most. Between its fair share and its knee a job's
 * speed is a convex function of its memory: the more it has, the more the next byte brings. To fill
 * in steps, each where it brings most at the moment, can miss most of the gain: it begins with who
 * is steep at once, and not with who gains much in the end. A convex function has its maximum over
 * a polytope at a vertex, and here a vertex has all mounts but at most one at an end, the fair
 * share or the knee. What is left is the choice of those that are filled, a knapsack, with one
 * mount that takes the rest.
 *
 * <p>First a relaxation: with the chord from end to end in the place of each curve, the order of
 * the chords' slopes is optimal (Dantzig 1957) and its gain an upper bound. Its choice, with the
 * rest where it brings most, is taken when it comes near the bound, as it does with many mounts.
 * Else dynamic programming over gains in units finds the fewest bytes for each gain (Ibarra and
 * Kim, "Fast approximation algorithms for the knapsack and sum of subset problems", JACM 22(4),
 * 1975), for each mount that may take the rest among all the others: halves of the mounts are added
 * while the other half is looked at, so that n mounts cost n log n additions and not n². Rounding a
 * gain down to whole units loses less than a unit for each mount, so that the loss is less than n
 * units of the upper bound, at most 1 of 128 parts of it.
 *
 * <p>Cost: n log n times the number of units, which is at least 128 n. Used once; not thread-safe.
 */
final class ConvexKnapsack {
  /** A gain that lacks less than this part of the total speed is near enough. */
  private static final double NEAR = 5e-5;

  private static final int WORK = 20_000_000;
  private static final int MOST_UNITS = 1 << 17;
  private static final int UNITS_PER_ITEM = 128;
  private static final long NEVER = Long.MAX_VALUE;

  private final Room room;
  private final List<Item> items = new ArrayList<>();
  private final long[] taken;
  private double best = -1;
  private double unit;
  private int partial = -1;
  private int units;

  /** A mount that gains from more memory. */
  private record Item(int mount, DemandCurve curve, long from, long size, double gain) {
    static Item of(int mount, Room room) {
      DemandCurve curve = room.curve(mount);
      long from = room.least(mount);
      long size = room.most(mount) - from;
      return new Item(mount, curve, from, size, curve.speed(from + size) - curve.speed(from));
    }

    double gain(long bytes) {
      return bytes == size ? gain : curve.speed(from + bytes) - curve.speed(from);
    }

    double slope() {
      return gain / size;
    }
  }

  ConvexKnapsack(Room room) {
    this.room = room;
    for (int mount = 0; mount < room.mounts(); mount++) {
      Item item = Item.of(mount, room);
      if (item.size > 0 && item.gain > 0) {
        items.add(item);
      }
    }
    items.sort(Comparator.comparingDouble(Item::slope).reversed());
    taken = new long[items.size()];
  }

  /** Returns the capacity of each mount. */
  long[] solve() {
    double bound = fillBySlope();
    if (bound - best > NEAR * (kept() + bound)) {
      search(bound);
    }
    long[] capacities = new long[room.mounts()];
    Arrays.setAll(capacities, room::least);
    long rest = room.left();
    for (int i = 0; i < taken.length; i++) {
      rest -= taken[i];
    }
    for (int i = 0; i < taken.length; i++) {
      long more = Math.min(rest, items.get(i).size - taken[i]);
      rest -= more;
      capacities[items.get(i).mount] += taken[i] + more;
    }
    return capacities;
  }

  /** Returns the total speed without what is divided here. */
  private double kept() {
    double total = 0;
    for (int i = 0; i < room.mounts(); i++) {
      total += room.curve(i).speed(room.least(i));
    }
    return total;
  }

  /** Fills by the slopes of the chords; returns the gain that cannot be exceeded. */
  private double fillBySlope() {
    long rest = room.left();
    double gain = 0;
    int next = 0;
    while (next < taken.length && items.get(next).size <= rest) {
      taken[next] = items.get(next).size;
      rest -= taken[next];
      gain += items.get(next).gain;
      next++;
    }
    double bound = gain;
    double more = 0;
    if (next < taken.length) {
      bound += items.get(next).slope() * rest;
      int receiver = next;
      for (int i = next; i < taken.length; i++) {
        double here = items.get(i).gain(Math.min(rest, items.get(i).size));
        if (here > more) {
          more = here;
          receiver = i;
        }
      }
      taken[receiver] = Math.min(rest, items.get(receiver).size);
    }
    best = gain + more;
    return bound;
  }

  private void search(double bound) {
    int levels = 1 + 32 - Integer.numberOfLeadingZeros(taken.length);
    int affordable = Math.min(MOST_UNITS, WORK / (taken.length * levels));
    int count = Math.max(UNITS_PER_ITEM * taken.length, affordable);
    unit = bound / count;
    long[] fewest = new long[count + 1];
    Arrays.fill(fewest, NEVER);
    fewest[0] = 0;
    searchPartial(0, taken.length, fewest);
    if (partial >= 0) {
      take();
    }
  }

  /**
   * Looks for the mount that takes the rest.
   *
   * @param fewest bytes for each gain, with all mounts but these
   */
  private void searchPartial(int from, int to, long[] fewest) {
    if (to - from == 1) {
      tryPartial(from, fewest);
      return;
    }
    int middle = (from + to) >>> 1;
    searchPartial(from, middle, with(fewest, middle, to));
    searchPartial(middle, to, with(fewest, from, middle));
  }

  private long[] with(long[] fewest, int from, int to) {
    long[] more = fewest.clone();
    for (int i = from; i < to; i++) {
      add(i, more, null);
    }
    return more;
  }

  /** Adds a mount that is filled or not; notes at which gains it is. */
  private void add(int item, long[] fewest, @Nullable BitSet filled) {
    long size = items.get(item).size;
    int gain = units(item);
    if (size > room.left()) {
      return;
    }
    for (int i = fewest.length - 1; i >= gain; i--) {
      long before = fewest[i - gain];
      if (before <= room.left() - size && before + size < fewest[i]) {
        fewest[i] = before + size;
        if (filled != null) {
          filled.set(i);
        }
      }
    }
  }

  private int units(int item) {
    return (int) Math.min(Integer.MAX_VALUE, items.get(item).gain / unit);
  }

  private void tryPartial(int item, long[] fewest) {
    Item receiver = items.get(item);
    int first = (int) Math.max(0, (best - receiver.gain) / unit);
    for (int i = first; i < fewest.length; i++) {
      double filled = i * unit;
      if (fewest[i] <= room.left() && filled + receiver.gain > best) {
        double gain = filled + receiver.gain(Math.min(room.left() - fewest[i], receiver.size));
        if (gain > best) {
          best = gain;
          partial = item;
          units = i;
        }
      }
    }
  }

  /** Finds again who was filled for the best gain. */
  private void take() {
    long[] fewest = new long[units + 1];
    Arrays.fill(fewest, NEVER);
    fewest[0] = 0;
    BitSet[] filled = new BitSet[taken.length];
    for (int i = 0; i < taken.length; i++) {
      filled[i] = new BitSet();
      if (i != partial) {
        add(i, fewest, filled[i]);
      }
    }
    long rest = room.left();
    int gain = units;
    for (int i = taken.length - 1; i >= 0; i--) {
      boolean full = filled[i].get(gain);
      taken[i] = full ? items.get(i).size : 0;
      rest -= taken[i];
      gain -= full ? units(i) : 0;
    }
    taken[partial] = Math.min(rest, items.get(partial).size);
  }
}
