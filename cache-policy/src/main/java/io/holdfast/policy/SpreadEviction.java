package io.holdfast.policy;

import java.util.Arrays;
import java.util.OptionalLong;

/**
 * Spreads MinIO's residents over an order that repeats. First come, until full: when every epoch
 * reads the same order, the residents are its first part, and the rest runs at the origin's rate.
 * Once a {@link RepeatedOrder} is followed, a newcomer that does not fit is exchanged for a
 * resident, if its hash is in the share of the order that fits and the resident's is not. In the
 * end the residents are those of {@link HashShare}.
 *
 * <p>An exchange costs no byte and no hit. The newcomer was just fetched, and the resident was read
 * earlier in this epoch: it was admitted at a place that the run has passed. So every epoch that
 * reads each item once has as many hits as with MinIO's policy. An epoch that reads only a part of
 * the dataset hits the residents in that part; no policy but MinIO's own can have as many hits as
 * MinIO's in the part that MinIO's residents happen to be.
 *
 * <p>Nobody can tell where in a cycle of opens an epoch begins: it is taken to begin with the first
 * open that was recorded. If that was in the middle of a job's epoch, as after a checkpoint, one
 * epoch may have fewer hits, once.
 *
 * <p>Exchanges are one for one. With mixed sizes the resident is, of the next {@link #CANDIDATES},
 * the nearest in weight, and the residents never weigh less than before the first exchange; where
 * no resident is near enough nothing is exchanged, so that mixed sizes are spread less evenly.
 * After a whole pass that has exchanged next to nothing, or when there is no order to be seen,
 * nothing is exchanged any more, and what was recorded is forgotten. Files need to be opened in the
 * order in which their items are read, so without {@linkplain CachePolicy#opened opens} this is
 * MinIO's policy.
 *
 * <p>Cost: constant time an exchange; until it is over, 16 bytes a resident besides the order.
 */
final class SpreadEviction implements Eviction {
  /** Residents from which one is chosen by weight. */
  private static final int CANDIDATES = 64;

  private static final int FEWEST = 64;

  /** A pass with no more exchanges than one in so many admitted items is the last. */
  private static final int FEW_PART = 256;

  private final Eviction shrinking;
  private RepeatedOrder order = new RepeatedOrder();
  private boolean over;

  /** Admitted items in order: ids, the upper half of the hashes, and places in the order. */
  private long[] ids = new long[FEWEST];

  private int[] hashes = new int[FEWEST];
  private int[] places = new int[FEWEST];
  private int count;

  /** Items before this one are gone, or stay. */
  private int begin;

  /** The place up to which the order fitted, and whether something did not fit since. */
  private long filledTo;

  private boolean full;

  /** Whether the run has seen the whole order since then. */
  private boolean seenWhole;

  /** Exchanges since the last run that saw the whole order. */
  private long exchanges;

  /** The least that the residents may weigh after an exchange; negative if there was none. */
  private long least = -1;

  SpreadEviction(long seed) {
    shrinking = Eviction.never(seed);
  }

  @Override
  public boolean replaces() {
    return false;
  }

  @Override
  public long victim(ResidentTable residents) {
    return shrinking.victim(residents);
  }

  @Override
  public void roomMade(long bytes) {
    least = -1;
  }

  @Override
  public boolean follows() {
    return !over;
  }

  @Override
  public void opened(long file) {
    if (over) {
      return;
    }
    order.opened(file);
    boolean anotherRun = order.head() < order.length() / 2;
    boolean finished = seenWhole && anotherRun;
    if (order.isHopeless() || (finished && exchanges <= count / FEW_PART)) {
      end();
    } else if (finished) {
      seenWhole = false;
      exchanges = 0;
    } else {
      seenWhole |= full && order.isWhole();
    }
  }

  private void end() {
    over = true;
    order = new RepeatedOrder(1);
    ids = new long[0];
    hashes = new int[0];
    places = new int[0];
    count = 0;
    begin = 0;
  }

  @Override
  public void admitted(long id, long hash, long weight) {
    if (over || full) {
      return;
    }
    if (count == ids.length) {
      int room = count + count / 2;
      ids = Arrays.copyOf(ids, room);
      hashes = Arrays.copyOf(hashes, room);
      places = Arrays.copyOf(places, room);
    }
    filledTo = order.length();
    places[count] = (int) Math.min(filledTo, Integer.MAX_VALUE);
    ids[count] = id;
    hashes[count++] = (int) (hash >>> Integer.SIZE);
  }

  /** The share of the order that fits, as the least hash that is beyond it. */
  private long share() {
    long length = order.length();
    return length == 0 ? 0 : (long) ((double) filledTo / length * 0x1p32);
  }

  private static long upper(int hash) {
    return Integer.toUnsignedLong(hash);
  }

  @Override
  public boolean wouldExchange(long hash) {
    return !over && order.isFollowed() && begin < count && hash >>> Integer.SIZE < share();
  }

  @Override
  public OptionalLong exchange(long hash, long weight, Room room, ResidentTable residents) {
    full = true;
    if (!wouldExchange(hash)) {
      return OptionalLong.empty();
    }
    if (least < 0) {
      least = room.taken();
    }
    long smallest = Math.max(1, weight - room.free());
    long largest = weight + room.taken() - least;
    OptionalLong best = OptionalLong.empty();
    long bestWeight = 0;
    int seen = 0;
    int from = firstPassed();
    boolean gone = from == begin;
    for (int i = from; i < count && seen < CANDIDATES && places[i] <= order.passed(); i++) {
      boolean stays = upper(hashes[i]) < share();
      long candidate = stays ? ResidentTable.ABSENT : residents.weight(ids[i]);
      if (candidate == ResidentTable.ABSENT) {
        begin = gone ? i + 1 : begin;
        continue;
      }
      gone = false;
      seen++;
      boolean nearer =
          best.isEmpty() || Math.abs(candidate - weight) < Math.abs(bestWeight - weight);
      if (candidate >= smallest && candidate <= largest && nearer) {
        best = OptionalLong.of(ids[i]);
        bestWeight = candidate;
        if (candidate == weight) {
          break;
        }
      }
    }
    exchanges += best.isPresent() ? 1 : 0;
    return best;
  }

  /** Returns the first admitted item that may be there and whose place is in the run. */
  private int firstPassed() {
    int low = begin;
    int high = count;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (places[middle] < order.first()) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
