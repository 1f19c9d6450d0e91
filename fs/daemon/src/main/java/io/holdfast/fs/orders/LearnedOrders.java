package io.holdfast.fs.orders;

import io.holdfast.fs.figures.OrderFigures;
import io.holdfast.fs.orders.PassRecorder.Pass;
import io.holdfast.fs.stats.OpenBatch;
import java.util.Arrays;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Finds jobs that read files in an order in which they, or another job, have read them before: a
 * validation, record files, trials of one seed. What a job opens is recorded, and the beginning of
 * each pass is compared with the passes that have been recorded. A job that shuffles costs 4 bytes
 * for each file that it opens, and no fetch.
 *
 * <p>An order that was found is {@linkplain Found#join looked for} in the whole dataset, which
 * takes some time. So there is one of them a job, and a pause of {@link #PAUSES} times that time
 * before the next one: no job that begins passes again and again keeps other orders from being
 * followed.
 *
 * <p>Bounded: {@link #MOST_JOBS} jobs, those that were active last, and a number of fingerprints in
 * all. Thread-safe: the monitor guards all, and the handing over of a job to an order; no method
 * waits.
 */
final class LearnedOrders {
  /** The most jobs whose opens are recorded. */
  static final int MOST_JOBS = 32;

  /** The pause after a look through the dataset, in times that the look took. */
  static final int PAUSES = 10;

  private final long mostPrints;
  private final ToLongFunction<String> fetchedBytes;
  private final Map<String, PassRecorder> jobs = new LinkedHashMap<>(16, 0.75f, true);
  private final Map<String, Found> found = new LinkedHashMap<>();
  private final Map<String, OrderFigures> ended = new LinkedHashMap<>();
  private long prints;

  /** When the last look through the dataset ended, and for how long there is no other. */
  private long looked;

  private long pauseNanos;

  /**
   * Creates a memory of no job.
   *
   * @param mostPrints the most fingerprints, of 4 bytes each
   * @param fetchedBytes returns the bytes that have been fetched for a job
   */
  LearnedOrders(long mostPrints, ToLongFunction<String> fetchedBytes) {
    this.mostPrints = mostPrints;
    this.fetchedBytes = fetchedBytes;
  }

  /**
   * A pass that a job has begun to read again.
   *
   * @param own whether the job itself has read it before
   */
  record Found(String job, Pass pass, boolean own) {
    /**
     * Returns the files of the pass, each once. Leaves those out that share a fingerprint, and
     * those that are not there any more. Takes up to 24 bytes a file meanwhile.
     *
     * @param everyFile passes each file of the dataset
     */
    FileSequence join(Consumer<FileTaker> everyFile) {
      Fingerprints prints = new Fingerprints(pass);
      everyFile.accept((id, inode) -> prints.found(PassRecorder.print(inode), id));
      return prints.sequence();
    }
  }

  /** Takes the files of the dataset. */
  @FunctionalInterface
  interface FileTaker {
    void take(long id, long inode);
  }

  /** The places of fingerprints, in a hash table with linear probing, and the files found. */
  private static final class Fingerprints {
    private static final long SEVERAL = -1;
    private final Pass pass;
    private final long[] ids;

    /** Places, counted from 1; 0 is an empty slot. */
    private final int[] slots;

    Fingerprints(Pass pass) {
      this.pass = pass;
      ids = new long[pass.size()];
      slots = new int[Math.max(2, Integer.highestOneBit(pass.size()) << 2)];
      for (int i = 0; i < pass.size(); i++) {
        int slot = slot(pass.file(i));
        slots[slot] = slots[slot] == 0 ? i + 1 : slots[slot];
      }
    }

    /** Returns the slot of a fingerprint, or the empty one where it would be. */
    private int slot(int print) {
      int slot = print & (slots.length - 1);
      while (slots[slot] != 0 && pass.file(slots[slot] - 1) != print) {
        slot = (slot + 1) & (slots.length - 1);
      }
      return slot;
    }

    void found(int print, long id) {
      int place = slots[slot(print)] - 1;
      if (place >= 0) {
        ids[place] = ids[place] == 0 ? id : SEVERAL;
      }
    }

    FileSequence sequence() {
      FileSequence sequence = new FileSequence();
      for (long id : ids) {
        if (id > 0 && id <= FileSequence.LARGEST) {
          sequence.add(id);
        }
      }
      sequence.trim();
      return sequence;
    }
  }

  /**
   * Records what a job opens that has no order.
   *
   * @return whether the job has begun to read a known order
   */
  synchronized boolean opened(String job, OpenBatch batch) {
    PassRecorder recorder = jobs.get(job);
    if (recorder == null) {
      recorder = new PassRecorder();
      jobs.put(job, recorder);
      prints += recorder.size();
    }
    boolean some = false;
    prints -= recorder.size();
    try {
      for (int i = 0; i < batch.count(); i++) {
        if (recorder.opened(batch.file(i), () -> fetchedBytes.applyAsLong(job))) {
          some |= find(job, recorder);
        }
      }
    } finally {
      prints += recorder.size(); // also if the heap has no room for more
      forget();
    }
    return some;
  }

  private boolean find(String job, PassRecorder recorder) {
    Pass own = recorder.last();
    Pass known = own != null && recorder.repeats(own) ? own : ofAnother(recorder);
    if (known == null || (found.size() >= MOST_JOBS && !found.containsKey(job))) {
      return false;
    }
    found.put(job, new Found(job, known, known == own));
    return true;
  }

  private @Nullable Pass ofAnother(PassRecorder recorder) {
    for (PassRecorder other : jobs.values()) {
      Pass last = other == recorder ? null : other.last();
      if (last != null && recorder.repeats(last)) {
        return last;
      }
    }
    return null;
  }

  /** Forgets the jobs that were active longest ago, where there are too many. */
  private void forget() {
    Iterator<PassRecorder> eldest = jobs.values().iterator();
    while (jobs.size() > MOST_JOBS || prints > mostPrints) {
      prints -= eldest.next().size();
      eldest.remove();
    }
  }

  /** Returns a pass that a job reads again, once; null if there is none to look for now. */
  synchronized @Nullable Found poll(long now) {
    Iterator<Found> first = found.values().iterator();
    if (!first.hasNext() || now - looked < pauseNanos) {
      return null;
    }
    Found next = first.next();
    first.remove();
    return next;
  }

  /** Notes that the dataset was looked through, for a pass that was found. */
  synchronized void looked(long began, long now) {
    looked = now;
    pauseNanos = PAUSES * (now - began);
  }

  /** Tells whether there are passes to look for, now or after the pause. */
  synchronized boolean hasFound() {
    return !found.isEmpty();
  }

  /** Returns how many files of its pass a job has opened; 0 if nothing is known of it. */
  synchronized int position(String job) {
    PassRecorder recorder = jobs.get(job);
    return recorder == null ? 0 : recorder.count();
  }

  /** Returns what tells whether a job has opened a file, by inode, in its pass so far. */
  synchronized LongPredicate opened(String job) {
    PassRecorder recorder = jobs.get(job);
    int[] opened = recorder == null ? new int[0] : recorder.sorted();
    return inode -> Arrays.binarySearch(opened, PassRecorder.print(inode)) >= 0;
  }

  /** Notes that a job is followed in an order from now on: its opens do not come here. */
  synchronized void followed(String job) {
    PassRecorder recorder = jobs.get(job);
    if (recorder != null) {
      prints -= recorder.size();
      recorder.beginAnew();
      prints += recorder.size();
    }
    found.remove(job);
    ended.remove(job);
  }

  /** Notes that a job does not read its learned order any more. */
  synchronized void ended(OrderFigures order) {
    ended.remove(order.job());
    ended.put(order.job(), order);
    if (ended.size() > MOST_JOBS) {
      ended.remove(ended.keySet().iterator().next());
    }
  }

  /** Returns the last figures of the learned orders that have ended. */
  synchronized Collection<OrderFigures> ended() {
    return List.copyOf(ended.values());
  }

  /** Returns how many fingerprints are in memory. */
  synchronized long prints() {
    return prints;
  }
}
