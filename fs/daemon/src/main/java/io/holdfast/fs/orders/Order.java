package io.holdfast.fs.orders;

import io.holdfast.fs.figures.OrderFigures;
import io.holdfast.fs.orders.PredictedFile.State;
import io.holdfast.fs.transit.Item;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The order of a job, and where the job is in it. Opens tell that: a file that is opened is looked
 * for near the furthest place where one was found. Workers of a loader read batches side by side,
 * so each thread has a place of its own, and the files behind each thread's place are fetched next.
 *
 * <p><b>The window.</b> Bytes that were fetched and have not found their reader. It is what the job
 * reads in twice the time of a fetch, and a few files more: while readers wait, twice their rate is
 * the next window, until they wait no more. Source: the product of bandwidth and delay, as in
 * Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14 (2016).
 *
 * <p><b>Orders that are wrong.</b> In one pass, the bytes that wait for their readers and those
 * whose readers did not come are together never more than {@link #ALLOWED} of the bytes that the
 * pass would fetch without the order. So a wrong order never costs more, whatever is wrong with it.
 * After {@link #SURPRISES} files in a row that are not near, nothing is fetched until a file is
 * near again.
 *
 * <p>A state machine without a clock, thread or I/O of its own. Thread-safe: the monitor guards all
 * fields, and is held while {@link DatasetFiles} is asked.
 */
final class Order {
  /** Places before and behind the furthest one where files are looked for. */
  static final int NEAR = 4096;

  /** The part of a pass's bytes that may be fetched without a reader. */
  static final double ALLOWED = 0.04;

  /** Opens in a row, of files that are not near, after which nothing is fetched ahead. */
  static final int SURPRISES = 3;

  /** The fewest files of a window: as many turns as an origin has at first. */
  private static final int LEAST_FILES = 16;

  /** The most threads whose places are known. */
  private static final int MOST_READERS = 64;

  /** How many files of the beginning show that the job begins again. */
  private static final int FIRST_FILES = 64;

  private static final long RATE_NANOS = 200_000_000;

  final String job;
  private final String source;
  private final FileSequence sequence;
  private final DatasetFiles files;
  private final long patienceNanos;

  /** The files near the furthest place, by position modulo the length. */
  private final @Nullable PredictedFile[] near = new PredictedFile[4 * NEAR];

  private final Map<Long, PredictedFile> byInode = new HashMap<>();
  private final Map<Long, Integer> firstFiles = new HashMap<>();
  private final LinkedHashMap<Integer, Place> readers = new LinkedHashMap<>(16, 0.75f, true);
  private final Deque<PredictedFile> waiting = new ArrayDeque<>();

  /** The positions that are in {@link #near}: from the first to before the other. */
  private int nearFrom;

  private int nearTo;

  /** The place behind the furthest file that was opened. */
  private int position;

  private int openedInPass;

  /** All opens of the job since the allowance is as it is. */
  private long opensOfAllowance;

  private int turn;
  private int row;

  /** Whether the pass's bytes are known; nothing is fetched before. */
  private boolean begun;

  private boolean abandoned;
  private long allowance;
  private long meanBytes;
  private long windowBytes;
  private long unusedBytes;
  private long wastedInPass;

  private double latencyNanos;
  private double bytesPerNano;
  private long rateSince;
  private long rateBytes;

  private long prefetchedItems;
  private long usedItems;
  private long wastedBytes;
  private long surprises;
  private String trouble = "";
  private boolean toldOfSurprises;

  /** Where a thread is, and up to where the files behind it have been looked at. */
  private static final class Place {
    final int thread;
    int position;
    int next;

    Place(int thread) {
      this.thread = thread;
    }
  }

  /**
   * A file to be fetched.
   *
   * @param item all of it
   * @param thread the thread that is expected to read it
   */
  record Fetch(PredictedFile file, Item item, int thread) {}

  /**
   * Creates an order that has not begun.
   *
   * @param patienceNanos how long a fetched file waits for its reader: later its pages may have
   *     been dropped
   */
  Order(
      String job,
      String source,
      FileSequence sequence,
      DatasetFiles files,
      long patienceNanos,
      long now) {
    this.job = job;
    this.source = source;
    this.sequence = sequence;
    this.files = files;
    this.patienceNanos = patienceNanos;
    rateSince = now;
    for (int i = Math.min(FIRST_FILES, sequence.size()) - 1; i >= 0; i--) {
      firstFiles.put(files.inode(sequence.get(i)), i);
    }
    fill();
  }

  // --- opens

  /**
   * Notes that a thread of the job has opened a file.
   *
   * @return the file that was fetched ahead of this open; null if none was
   */
  synchronized @Nullable PredictedFile opened(int thread, long inode) {
    opensOfAllowance++;
    PredictedFile file = byInode.get(inode);
    if (file == null || (file.used && isPassOver())) {
      Integer first = firstFiles.get(inode);
      if (first != null) {
        beginAgain();
        file = byInode.get(inode);
      }
    }
    if (file == null) {
      surprise();
      return null;
    }
    if (file.used) {
      return null; // opened again
    }
    row = 0;
    boolean found = file.isUnused();
    if (found) {
      usedItems++;
      unusedBytes -= file.bytes;
    }
    file.used = true;
    openedInPass++;
    rateBytes += file.bytes == 0 ? meanBytes : file.bytes;
    move(thread, file.position);
    return found ? file : null;
  }

  private void surprise() {
    surprises++;
    row++;
    if (row == SURPRISES && !toldOfSurprises) {
      toldOfSurprises = true;
      trouble = "reads other files than its order says: nothing is fetched ahead for now";
    }
  }

  private boolean isPassOver() {
    return isMost(openedInPass);
  }

  private boolean isMost(long opens) {
    return opens >= 0.9 * sequence.size();
  }

  private void move(int thread, int to) {
    Place place = readers.computeIfAbsent(thread, Place::new);
    if (place.next <= to || to < place.position) {
      place.next = to + 1;
    }
    place.position = to;
    if (readers.size() > MOST_READERS) {
      Integer eldest = readers.keySet().iterator().next();
      readers.remove(eldest);
    }
    position = Math.max(position, to + 1);
    while (nearFrom < position - NEAR) {
      leaveBehind(at(nearFrom));
      nearFrom++;
    }
    fill();
  }

  private void leaveBehind(PredictedFile file) {
    if (file.isUnused()) {
      waste(file);
    }
    byInode.remove(file.inode, file);
  }

  private void fill() {
    int end = Math.min(sequence.size(), position + NEAR);
    while (nearTo < end) {
      long id = sequence.get(nearTo);
      PredictedFile file = new PredictedFile(nearTo, id, files.inode(id));
      near[nearTo % near.length] = file;
      PredictedFile other = byInode.get(file.inode);
      if (other == null || other.used) {
        byInode.put(file.inode, file);
      } else {
        file.used = true; // the other place of the same file stands for both
        openedInPass++;
      }
      nearTo++;
    }
  }

  private PredictedFile at(int place) {
    PredictedFile file = near[place % near.length];
    if (file == null || file.position != place) {
      throw new IllegalStateException("place " + place + " is not near " + position);
    }
    return file;
  }

  private void beginAgain() {
    for (int i = nearFrom; i < nearTo; i++) {
      leaveBehind(at(i));
    }
    byInode.clear();
    readers.clear();
    waiting.clear();
    if (!abandoned && wastedInPass > allowance / 2) {
      abandon();
    }
    if (isMost(opensOfAllowance)) {
      wastedInPass = 0;
      opensOfAllowance = 0;
    }
    nearFrom = 0;
    nearTo = 0;
    position = 0;
    openedInPass = 0;
    unusedBytes = 0;
    begun = false;
    fill();
  }

  // --- what is fetched

  /** Tells whether the pass's bytes have to be counted; see {@link #begin}. */
  synchronized boolean isToBegin() {
    return !begun && !abandoned && openedInPass > 0;
  }

  /**
   * Counts the bytes that are missing for the pass. Takes some time for a long order, without the
   * monitor.
   */
  void begin() {
    long bytes = 0;
    int count = 0;
    for (int i = 0; i < sequence.size(); i++) {
      Item item = files.missing(sequence.get(i));
      bytes += item == null ? 0 : item.length();
      count += item == null ? 0 : 1;
    }
    synchronized (this) {
      begun = true;
      allowance = (long) (ALLOWED * bytes);
      meanBytes = count == 0 ? 0 : bytes / count;
    }
  }

  /**
   * Returns the next file to fetch; null if none is to be fetched now.
   *
   * @param most bytes that may wait for their readers
   */
  synchronized @Nullable Fetch next(long now, long most) {
    giveUpLate(now);
    if (!begun || abandoned || row >= SURPRISES) {
      return null;
    }
    windowBytes = Math.min(most, window(now));
    List<Place> places = new ArrayList<>(readers.values());
    for (int i = 0; i < places.size(); i++) {
      Fetch next = next(places.get((turn + i) % places.size()));
      if (next != null) {
        turn = (turn + i + 1) % places.size();
        return next;
      }
    }
    return null;
  }

  private @Nullable Fetch next(Place place) {
    place.next = Math.max(place.next, nearFrom);
    while (place.next < nearTo) {
      PredictedFile file = at(place.next);
      if (!file.used && file.state == State.AHEAD) {
        Item item = files.missing(file.id);
        if (item != null) {
          return mayFetch(item.length()) ? fetch(file, item, place.thread) : null;
        }
        file.state = State.LEFT;
      }
      place.next++;
    }
    return null;
  }

  private boolean mayFetch(int bytes) {
    if (unusedBytes + wastedInPass + bytes > allowance) {
      if (wastedInPass > allowance / 2 && unusedBytes == 0) {
        abandon();
      }
      return false;
    }
    return unusedBytes + bytes <= windowBytes;
  }

  private void abandon() {
    abandoned = true;
    trouble =
        "does not read what its order says, so nothing is fetched ahead any more: %d bytes were in vain"
            .formatted(wastedInPass);
  }

  private Fetch fetch(PredictedFile file, Item item, int thread) {
    file.state = State.FETCHING;
    file.bytes = item.length();
    unusedBytes += file.bytes;
    return new Fetch(file, item, thread);
  }

  private long window(long now) {
    long nanos = now - rateSince;
    if (nanos >= RATE_NANOS) {
      double recent = (double) rateBytes / nanos;
      bytesPerNano = Math.max(recent, (3 * bytesPerNano + recent) / 4);
      rateSince = now;
      rateBytes = 0;
    }
    return (long) (2 * latencyNanos * bytesPerNano) + LEAST_FILES * meanBytes;
  }

  /**
   * Notes that a fetch has ended.
   *
   * @param arrived whether its bytes have arrived
   * @param nanos how long it took
   */
  synchronized void ended(PredictedFile file, boolean arrived, long nanos, long now) {
    if (arrived) {
      prefetchedItems++;
      latencyNanos = latencyNanos == 0 ? nanos : (7 * latencyNanos + nanos) / 8;
    }
    if (file.state != State.FETCHING) {
      return; // left behind meanwhile
    }
    if (arrived) {
      file.state = State.FETCHED;
      file.arrived = now;
      waiting.add(file);
    } else {
      unusedBytes -= file.used ? 0 : file.bytes;
      usedItems -= file.used ? 1 : 0;
      file.state = State.LEFT;
    }
  }

  private void giveUpLate(long now) {
    for (PredictedFile first = waiting.peek(); first != null; first = waiting.peek()) {
      if (first.isUnused() && now - first.arrived < patienceNanos) {
        return;
      }
      if (first.isUnused()) {
        waste(first);
      }
      waiting.remove();
    }
  }

  private void waste(PredictedFile file) {
    // what became resident meanwhile is not in vain
    if (files.missing(file.id) != null) {
      wastedBytes += file.bytes;
      wastedInPass += file.bytes;
    }
    unusedBytes -= file.bytes;
    file.state = State.WASTED;
  }

  /** Returns the words that the log has not had yet about the order; empty if there are none. */
  synchronized String takeTrouble() {
    String taken = trouble;
    trouble = "";
    return taken;
  }

  /** Returns the number of files. */
  int length() {
    return sequence.size();
  }

  synchronized OrderFigures figures() {
    return new OrderFigures(
        job,
        source,
        sequence.size(),
        position,
        windowBytes,
        prefetchedItems,
        usedItems,
        wastedBytes,
        surprises);
  }
}
