package io.holdfast.policy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Jobs that read items through MinIO, with residents that are spread over orders that repeat, as on
 * a mount: a job whose pass is the one before again, while it reads alone.
 */
final class SpreadModel {
  /** How many items ahead of their readers the items of a known order are fetched. */
  private static final int AHEAD = 20;

  private final CachePolicy policy;
  private final int[] weights;
  private final boolean spreads;
  private final Map<Integer, int[]> lastOrders = new HashMap<>();
  private final Set<Integer> spreadLast = new HashSet<>();
  private final List<Pass> underWay = new ArrayList<>();
  private long swaps;

  SpreadModel(CachePolicy policy, int[] weights, boolean spreads) {
    this.policy = policy;
    this.weights = weights;
    this.spreads = spreads;
  }

  /** Creates a model of items of weight 1. */
  static SpreadModel of(String policy, int items, int capacity, boolean spreads) {
    int[] weights = new int[items];
    Arrays.fill(weights, 1);
    return new SpreadModel(Policies.create(policy, capacity, 1), weights, spreads);
  }

  CachePolicy policy() {
    return policy;
  }

  long swaps() {
    return swaps;
  }

  /** The most weight that a swap may leave free. */
  long slack() {
    return policy.capacity() / 1000;
  }

  /** Returns a model without swaps, with the residents of this one. */
  SpreadModel plain() {
    CachePolicy copy = Policies.create("minio", policy.capacity(), 1);
    for (int item = 0; item < weights.length; item++) {
      if (policy.contains(item)) {
        copy.offer(item, item, weights[item]);
      }
    }
    return new SpreadModel(copy, weights, false);
  }

  /** Reads a whole pass; returns how many items were hits in each tenth of it. */
  int[] read(int job, int... order) {
    return read(job, order, inOrder(order.length));
  }

  /**
   * Reads a whole pass.
   *
   * @param order the items, each once
   * @param readers the places of the order, as readers get to them
   */
  int[] read(int job, int[] order, int[] readers) {
    Pass pass = begin(job, order, readers);
    pass.read(order.length);
    return pass.tenths();
  }

  /** Begins a pass. */
  Pass begin(int job, int[] order, int[] readers) {
    return new Pass(job, order, readers);
  }

  static int[] inOrder(int count) {
    int[] places = new int[count];
    Arrays.setAll(places, i -> i);
    return places;
  }

  /** Returns how far from their places readers may be. */
  static int reach(int count) {
    return Math.min(128, Math.max(16, count / 16));
  }

  /** A pass of a job. */
  final class Pass implements EvenSpread.Places {
    private final int[] order;
    private final int[] readers;
    private final boolean known;
    private final BitSet fetched = new BitSet();
    private @Nullable EvenSpread spread;
    private int next;
    private int position;

    private Pass(int job, int[] order, int[] readers) {
      this.order = order;
      this.readers = readers;
      known = spreads && Arrays.equals(order, lastOrders.get(job));
      for (Pass other : underWay) {
        other.spread = null;
      }
      if (known && underWay.isEmpty()) {
        spread = EvenSpread.over(this, spreadLast.contains(job));
      }
      if (spread == null) {
        spreadLast.remove(job);
      } else {
        spreadLast.add(job);
      }
      underWay.add(this);
      lastOrders.put(job, order);
    }

    @Override
    public int count() {
      return order.length;
    }

    @Override
    public int weight(int place) {
      return weights[order[place]];
    }

    @Override
    public boolean isResident(int place) {
      return policy.contains(order[place]);
    }

    boolean isOver() {
      return next == readers.length;
    }

    void read(int items) {
      for (int i = 0; i < items && !isOver(); i++) {
        int place = readers[next++];
        if (known) {
          for (int ahead = position; ahead < Math.min(order.length, position + AHEAD); ahead++) {
            fetch(ahead);
          }
        }
        fetch(place);
        policy.access(order[place]);
        position = Math.max(position, place + 1);
        if (spread != null) {
          spread.read(place);
          spread.passed(position - reach(order.length));
        }
      }
      if (isOver()) {
        underWay.remove(this);
      }
    }

    private void fetch(int place) {
      int item = order[place];
      if (policy.contains(item) || fetched.get(place)) {
        return;
      }
      fetched.set(place);
      policy.access(item);
      boolean admitted = policy.offer(item, ItemHash.of(item), weights[item]).admitted();
      if (!admitted && spread != null) {
        swap(spread, place);
      }
    }

    private void swap(EvenSpread by, int place) {
      long free = policy.capacity() - policy.residentBytes();
      int victim = by.victim(place, free, slack());
      if (victim != EvenSpread.NONE) {
        int item = order[place];
        if (!policy.swap(item, ItemHash.of(item), weights[item], order[victim])) {
          throw new AssertionError("no swap of " + order[victim] + " for " + item);
        }
        by.swapped(place);
        swaps++;
      }
    }

    int hits() {
      return order.length - fetched.cardinality();
    }

    int[] tenths() {
      int[] hits = new int[10];
      for (int place = 0; place < order.length; place++) {
        if (!fetched.get(place)) {
          hits[(int) (10L * place / order.length)]++;
        }
      }
      return hits;
    }
  }
}
