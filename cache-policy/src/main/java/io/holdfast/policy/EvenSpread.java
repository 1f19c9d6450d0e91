package io.holdfast.policy;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Spreads MinIO's residents evenly over an order that one job reads again and again.
 *
 * <p>MinIO keeps what came first. If every pass reads the same order, the residents are the first
 * part of it, and the job reads the rest of each pass at the origin's speed. This class chooses
 * residents that make way: an item that has just been fetched takes the place of a resident that
 * lies too dense. The fetch was needed anyway, so a swap costs no byte.
 *
 * <p><b>No hit is lost.</b> A resident makes way only after the job has read it in this pass, for
 * an item of the same pass. Neither changes what this pass still hits, except that the newcomer is
 * a hit if its reader has yet to come. As many residents as before are items of the order. So each
 * pass over the order, in whatever permutation, has as many hits as without swaps; and a pass over
 * the whole dataset has as many as MinIO. That holds while no other job reads: the caller sees to
 * it. It cannot hold for every part of the dataset: whatever is swapped, the items that made way
 * are a part with fewer hits, and the newcomers are one with more.
 *
 * <p><b>Which items.</b> So residents move to later places only, and each beginning of the order
 * has at most the residents that it has. The most even curve below that of the residents is its
 * greatest convex minorant (the taut string of isotonic regression: Barlow et al., "Statistical
 * Inference under Order Restrictions", 1972); where the residents are the first items, it is a
 * straight line. The items that are to be resident follow that curve within half an item (error
 * diffusion). A choice by hash would be uneven by chance: a tenth of 8,000 items, of which 65 % are
 * resident, has 63 to 67 %.
 *
 * <p><b>It ends.</b> An item that is to be resident, and for which no resident may make way yet,
 * has a resident that lies too dense stay in its stead. So no beginning falls below the curve,
 * which is then the same in the next pass, and each swap brings the residents nearer to it. The
 * residents become as even as the distance allows over which the caller fetches ahead: an item that
 * arrives before any dense resident has been read takes the place of none.
 *
 * <p>Mixed weights: one item makes way for one, of a weight that differs by an eighth at most, so
 * the number of residents never falls. Each class of such weights is spread by itself. The newcomer
 * fits into the place and the free room, and leaves free at most the slack that the caller allows.
 * So few residents fit, and it takes more passes: at most 12 in 600 simulated orders of 2,000
 * items.
 *
 * <p>Cost: a visit of each item at the beginning of a pass, then constant time. 3 bits an item, and
 * 4 bytes where weights differ. Not thread-safe.
 */
public final class EvenSpread {
  /** The most places of an order. */
  public static final int MOST_PLACES = 4_000_000;

  /** No place. */
  public static final int NONE = -1;

  /** The most residents that wait to make way. */
  private static final int MOST_SPARE = 1 << 16;

  /** Residents are even if no part of the order has more than one of so many parts too much. */
  private static final int PARTS = 4096;

  /**
   * Standard deviations that residents of a shuffled order are uneven by, at most: one in a hundred
   * is beyond (Kuiper's test).
   */
  private static final double CHANCE = 2;

  private final Weights weights;

  /** Items that are to be resident and are not. */
  private final BitSet lacking;

  /** Residents that are not to be. */
  private final BitSet spare;

  private final BitSet read;
  private final TreeMap<Integer, ArrayDeque<Integer>> waiting = new TreeMap<>();
  private int waitingCount;

  /** For each class, residents that stay in the stead of items for which none could make way. */
  private final int[] staying = new int[Weights.CLASSES];

  /** Places before this one have been looked at for residents that may make way. */
  private int looked;

  /** Places from this one on may still be read in this pass. */
  private int passed;

  /** The items of one pass, by their places in the order; no item has two places. */
  public interface Places {
    /** Returns how many there are. */
    int count();

    /**
     * Returns the weight of the item at a place, in a unit of the caller's choosing, such as pages;
     * 0 for an item that must stay as it is.
     */
    int weight(int place);

    /** Tells whether the item at a place is resident. */
    boolean isResident(int place);
  }

  private EvenSpread(Weights weights, BitSet lacking, BitSet spare) {
    this.weights = weights;
    this.lacking = lacking;
    this.spare = spare;
    this.read = new BitSet(weights.count);
  }

  /**
   * Chooses the items that are to be resident.
   *
   * @param goesOn whether the pass before was spread, too: the residents are to be as even as they
   *     can be, and not just as even as those of a shuffled order
   * @return null if there is nothing to swap: the residents are even, or there are none, or nothing
   *     else, or there are too many places
   */
  public static @Nullable EvenSpread over(Places places, boolean goesOn) {
    int count = places.count();
    if (count > MOST_PLACES) {
      return null;
    }
    Weights weights = new Weights(count);
    BitSet resident = new BitSet(count);
    for (int place = 0; place < count; place++) {
      int weight = places.weight(place);
      weights.add(place, weight);
      resident.set(place, weight > 0 && places.isResident(place));
    }
    Curves even = new Curves(weights, resident);
    BitSet chosen = even.isThatOf(resident, goesOn) ? resident : even.chosen();
    BitSet lacking = (BitSet) chosen.clone();
    lacking.andNot(resident);
    BitSet spare = (BitSet) resident.clone();
    spare.andNot(chosen);
    return lacking.isEmpty() || spare.isEmpty() ? null : new EvenSpread(weights, lacking, spare);
  }

  /** Notes that the job has read the item at a place in this pass. */
  public void read(int place) {
    read.set(place);
  }

  /**
   * Notes that nobody is still at work on items before a place that were {@linkplain #read read} in
   * this pass. An item that was not read by then stays resident.
   */
  public void passed(int to) {
    passed = Math.max(passed, Math.min(to, weights.count));
  }

  /** Tells whether the item at a place is to become resident in the place of another one. */
  public boolean wants(int place) {
    return place >= 0 && lacking.get(place);
  }

  /**
   * Returns the place of the resident that makes way for an item that has been fetched, or {@link
   * #NONE}; then the item is wanted no more in this pass. No resident is returned twice, so the
   * caller asks again if this one has gone meanwhile.
   *
   * @param free weight that is free in the capacity
   * @param slack the most weight that a swap may leave free
   */
  public int victim(int newcomer, long free, long slack) {
    if (!wants(newcomer)) {
      return NONE;
    }
    int weight = weights.of(newcomer);
    long least = Math.max(1, weight - free);
    long most = weight + Math.max(0, slack - free);
    fill();
    Map.Entry<Integer, ArrayDeque<Integer>> fitting = waiting.ceilingEntry((int) least);
    if (fitting != null && fitting.getKey() <= most && isAlike(fitting.getKey(), weight)) {
      return take(fitting);
    }
    lacking.clear(newcomer);
    int kind = Weights.kind(weight);
    Map.Entry<Integer, ArrayDeque<Integer>> alike = waiting.floorEntry(Weights.largest(kind));
    if (alike != null && isAlike(alike.getKey(), weight)) {
      take(alike);
    } else {
      staying[kind]++;
    }
    return NONE;
  }

  private static boolean isAlike(int one, int other) {
    return Weights.kind(one) == Weights.kind(other);
  }

  private int take(Map.Entry<Integer, ArrayDeque<Integer>> ofWeight) {
    int place = ofWeight.getValue().remove();
    if (ofWeight.getValue().isEmpty()) {
      waiting.remove(ofWeight.getKey());
    }
    waitingCount--;
    return place;
  }

  private void fill() {
    while (waitingCount < MOST_SPARE && looked < passed) {
      int place = looked++;
      if (!spare.get(place)) {
        continue;
      }
      int weight = weights.of(place);
      if (staying[Weights.kind(weight)] > 0) {
        staying[Weights.kind(weight)]--;
      } else if (read.get(place)) {
        waiting.computeIfAbsent(weight, none -> new ArrayDeque<>()).add(place);
        waitingCount++;
      }
    }
  }

  /** Notes that the item at a place has become resident in the place of another one. */
  public void swapped(int newcomer) {
    lacking.clear(newcomer);
  }

  /** Returns how many items are still to become resident. */
  public int lacking() {
    return lacking.cardinality();
  }

  /** The curves of the classes of weights. */
  private static final class Curves {
    private final Weights weights;
    private final @Nullable Curve[] ofClass = new Curve[Weights.CLASSES];
    private long residentWeight;

    /** Makes the greatest convex curves that are nowhere above the residents. */
    Curves(Weights weights, BitSet residents) {
      this.weights = weights;
      for (int place = 0; place < weights.count; place++) {
        int weight = weights.of(place);
        if (weight > 0) {
          boolean resident = residents.get(place);
          residentWeight += resident ? weight : 0;
          of(weight).add(resident);
        }
      }
    }

    private Curve of(int weight) {
      int kind = Weights.kind(weight);
      Curve there = ofClass[kind];
      Curve curve = there == null ? new Curve() : there;
      ofClass[kind] = curve;
      return curve;
    }

    /** Tells whether the residents are nowhere far above them, or not more than by chance. */
    boolean isThatOf(BitSet residents, boolean exactly) {
      double most = Math.max(1.5 * weights.largest, (double) weights.total / PARTS);
      if (!exactly) {
        double share = (double) residentWeight / Math.max(1, weights.total);
        most = Math.max(most, CHANCE * Math.sqrt(weights.squares * share * (1 - share)));
      }
      begin();
      double above = 0;
      for (int place = 0; place < weights.count; place++) {
        int weight = weights.of(place);
        if (weight > 0) {
          above += weight * ((residents.get(place) ? 1 : 0) - of(weight).rise());
          if (above > most) {
            return false;
          }
        }
      }
      return true;
    }

    /** Returns the items that follow them. */
    BitSet chosen() {
      BitSet chosen = new BitSet(weights.count);
      begin();
      for (int place = 0; place < weights.count; place++) {
        int weight = weights.of(place);
        chosen.set(place, weight > 0 && of(weight).chooses());
      }
      return chosen;
    }

    private void begin() {
      for (Curve curve : ofClass) {
        if (curve != null) {
          curve.begin();
        }
      }
    }
  }

  /** A convex curve of residents over items, and a walk along it. */
  private static final class Curve {
    /** The items at the corners. */
    private int[] items = new int[16];

    /** The residents there. */
    private int[] residents = new int[16];

    private int corners = 1;
    private int count;
    private int resident;

    // the walk
    private int at;
    private int corner;
    private double due;

    /** Adds an item. */
    void add(boolean isResident) {
      count++;
      resident += isResident ? 1 : 0;
      while (corners > 1 && isAboveTheLine(corners - 1)) {
        corners--;
      }
      if (corners == items.length) {
        items = Arrays.copyOf(items, 2 * corners);
        residents = Arrays.copyOf(residents, 2 * corners);
      }
      items[corners] = count;
      residents[corners] = resident;
      corners++;
    }

    /** Tells whether a corner is above the line from the one before it to the last item. */
    private boolean isAboveTheLine(int last) {
      long before = (long) (residents[last] - residents[last - 1]) * (count - items[last]);
      long behind = (long) (resident - residents[last]) * (items[last] - items[last - 1]);
      return before >= behind;
    }

    void begin() {
      at = 0;
      corner = 1;
      due = 0;
    }

    /** Goes on by an item, and returns by how much the curve rises. */
    double rise() {
      at++;
      while (items[corner] < at) {
        corner++;
      }
      return (double) (residents[corner] - residents[corner - 1])
          / (items[corner] - items[corner - 1]);
    }

    /** Goes on by an item, and tells whether it is to be resident. */
    boolean chooses() {
      due += rise();
      boolean chosen = due >= 0.5;
      due -= chosen ? 1 : 0;
      return chosen;
    }
  }

  /** The weights of all places: one number, until two differ. */
  private static final class Weights {
    /** Classes of an octave; smaller weights have one each. */
    private static final int OF_OCTAVE = 8;

    private static final int OF_OCTAVE_BITS = 3;
    static final int CLASSES = OF_OCTAVE * Integer.SIZE;

    private final int count;
    private long total;
    private double squares;
    private int largest;
    private int first;
    private int @Nullable [] all;

    Weights(int count) {
      this.count = count;
    }

    /** Returns the class of a weight. */
    static int kind(int weight) {
      int shift =
          Math.max(0, Integer.SIZE - OF_OCTAVE_BITS - 1 - Integer.numberOfLeadingZeros(weight));
      return (shift << OF_OCTAVE_BITS) + (weight >>> shift);
    }

    /** Returns the largest weight of a class. */
    static int largest(int kind) {
      int shift = Math.max(0, (kind >>> OF_OCTAVE_BITS) - 1);
      return (int) (((kind - ((long) shift << OF_OCTAVE_BITS) + 1) << shift) - 1);
    }

    void add(int place, int weight) {
      if (weight < 0) {
        throw new IllegalArgumentException("weight must not be negative: " + weight);
      }
      first = place == 0 ? weight : first;
      total += weight;
      squares += (double) weight * weight;
      largest = Math.max(largest, weight);
      if (all == null && weight != first) {
        all = new int[count];
        Arrays.fill(all, 0, place, first);
      }
      if (all != null) {
        all[place] = weight;
      }
    }

    int of(int place) {
      return all == null ? first : all[place];
    }
  }
}
