package io.holdfast.policy;

import java.util.HashMap;
import java.util.Map;

/**
 * Recognises that files are opened in an order in which they were opened before, from opens alone:
 * a job that does not shuffle reads the same order in each epoch.
 *
 * <p>The first pass is recorded: each file has its place in the order. A later open of a recorded
 * file is <i>in place</i> if it is near the furthest place of the run so far; workers open files a
 * little out of order, and so does a shuffle buffer that is small. A <i>run</i> is a sequence of
 * opens in place, and moves forward only. Three opens in a row that are out of place end it: the
 * job begins its next epoch, or reads another order. While a run is {@linkplain #isFollowed()
 * followed}, the files from its {@linkplain #first() first} place to somewhat before its
 * {@linkplain #head() head} have been opened in this epoch.
 *
 * <p>Of a large dataset only a sample of the files is recorded, those whose hashes begin with so
 * many zero bits, and places between them are counted.
 *
 * <p>Cost: constant time, and at most {@link #MOST} files, some 1.5 MB.
 */
final class RepeatedOrder {
  /** The most files that are recorded. */
  static final int MOST = 1 << 14;

  /** A run is followed after so many opens that were each further on than all before. */
  private static final int FEWEST_IN_PLACE = 16;

  /** An open is in place within this part of the order. */
  private static final int TOLERANCE_PART = 8;

  /** A run is not followed if more than one open in so many is out of place. */
  private static final int RARE = 16;

  /** So many opens out of place, one after the other, end a run. */
  private static final int MOST_SURPRISES = 3;

  private final int most;
  private final Map<Long, Long> places = new HashMap<>();
  private int zeroBits;
  private long length;

  /** Whether the last recorded file was a new one, so that the order is still being recorded. */
  private boolean recording = true;

  /** The place that was opened last. */
  private long last = -1;

  private long first;
  private long head;
  private long inPlace;
  private long surprises;
  private int surprisesInRow;
  private long disorder;

  /** Opens out of place since a run was followed last. */
  private long sinceFollowed;

  RepeatedOrder() {
    this(MOST);
  }

  RepeatedOrder(int most) {
    this.most = most;
  }

  /** Learns of an open. */
  void opened(long file) {
    long hash = ItemHash.of(file);
    boolean sampled = zeroBits == 0 || Long.numberOfLeadingZeros(hash) >= zeroBits;
    if (!sampled) {
      length += recording ? 1 : 0;
      return;
    }
    Long place = places.get(hash);
    if (place != null && place == last) {
      return; // the same open: programs open a file to look at it, and again to read it
    }
    recording = place == null;
    last = place == null ? length : place;
    if (place != null) {
      reached(place);
    } else {
      places.put(hash, length++);
      surprise();
      if (places.size() > most) {
        zeroBits++;
        sinceFollowed /= 2;
        places.keySet().removeIf(each -> Long.numberOfLeadingZeros(each) < zeroBits);
      }
    }
  }

  private void reached(long place) {
    long distance = Math.abs(place - head);
    if (inPlace == 0 || distance > length / TOLERANCE_PART) {
      surprise();
      if (inPlace == 0) {
        first = place;
        head = place;
        inPlace = 1;
        surprises = 0;
        surprisesInRow = 0;
        disorder = 0;
      }
      return;
    }
    surprisesInRow = 0;
    disorder = Math.max(disorder, distance);
    if (place > head) {
      head = place;
      inPlace++;
    }
    if (isFollowed()) {
      sinceFollowed = 0;
    }
  }

  private void surprise() {
    surprises++;
    sinceFollowed++;
    if (++surprisesInRow >= MOST_SURPRISES) {
      inPlace = 0;
    }
  }

  /** Tells whether the order repeats, and the last open was in place. */
  boolean isFollowed() {
    return !recording
        && surprisesInRow == 0
        && inPlace >= FEWEST_IN_PLACE
        && surprises * RARE <= inPlace;
  }

  /** Tells whether the files were opened so often out of place that no order is to be expected. */
  boolean isHopeless() {
    return sinceFollowed > 3L * places.size() + 4 * FEWEST_IN_PLACE;
  }

  /** The number of files that were recorded, or counted between those. */
  long length() {
    return length;
  }

  /** The place where the run began. */
  long first() {
    return first;
  }

  /** The furthest place of the run. */
  long head() {
    return head;
  }

  /**
   * The place up to which the files of the run have been opened, and read to their ends: it stays
   * behind the head by more than opens were out of order.
   */
  long passed() {
    return head - 2 * disorder - length / RARE - 1;
  }

  /** Tells whether the run has seen the whole order. */
  boolean isWhole() {
    long margin = length / RARE + 2 * disorder;
    return isFollowed() && first <= margin && head >= length - 1 - disorder;
  }
}
