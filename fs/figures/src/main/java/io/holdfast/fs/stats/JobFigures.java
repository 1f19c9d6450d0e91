package io.holdfast.fs.stats;

import io.holdfast.fs.ReadSource;
import io.holdfast.fs.figures.EpochSplit;
import io.holdfast.fs.figures.JobsFigures.Split;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The opens, waits and epochs of a job since the mount. Thread-safe. The monitor guards the fields
 * that are not final. Only the monitor of {@link FetchingTime} may be taken when it is held.
 *
 * <p><b>Pauses.</b> Time in which the job does something else does not count: it validates on other
 * files, writes a checkpoint, or somebody starts it again after lunch. In such a pause none of its
 * threads opens or reads. Readers that a consumer holds up rest at the same time, too, but again
 * and again. So a rest of all of them is a pause if it is much longer than the time between two
 * opens, and either longer than {@link #LONG_PAUSE}, or no longer than the pass so far, and as rare
 * as passes are.
 */
final class JobFigures {
  private static final int MOST_EPOCHS = 16;

  /** A shorter rest of all readers is no pause. */
  private static final long SHORTEST_PAUSE = Duration.ofSeconds(5).toNanos();

  /** A rest from which on it is a pause, however often there are such. */
  static final long LONG_PAUSE = Duration.ofSeconds(60).toNanos();

  /** A pause is longer than so many times the mean time between two opens of the pass. */
  private static final int TIMES_LONGER = 10;

  /** With fewer opens in the pass, that time is not known. */
  private static final int FEWEST_OPENS = 16;

  /** The last items that were fetched in parts and are counted already. */
  private static final int RECENT_ITEMS = 64;

  final String name;
  final LongAdder misses = new LongAdder();
  private final LongAdder originBytes = new LongAdder();
  private final LongAdder peerBytes = new LongAdder();
  private final LongAdder sharedOriginBytes = new LongAdder();
  private final LongAdder sharedPeerBytes = new LongAdder();
  private final LongAdder originStallNanos = new LongAdder();
  private final LongAdder peerStallNanos = new LongAdder();
  private final LongSupplier nanoTime;
  private final EpochDetector detector = new EpochDetector();
  private final Deque<Epoch> ended = new ArrayDeque<>();
  private final @Nullable Object[] recentItems = new Object[RECENT_ITEMS];
  private int nextItem;
  private int processes;
  private long opens;
  private long items;
  private long bytes;
  private int epoch = 1;
  private JobCounts epochBegan;
  private volatile long lastActive;

  /** The time in which a read of it is not answered yet. */
  private final FetchingTime fetching;

  /** The sum of its pauses, and the end of the last one, if there was any. */
  private long paused;

  private long pauseEnded;

  /** How often it rested, by the logarithm of the rest's nanoseconds. */
  private final int[] rests = new int[Long.SIZE];

  /** The time of its readers up to the last look, and the bytes that they have taken. */
  private ReaderTimes readerTimes = ReaderTimes.NOTHING;

  private long readerBytes;
  private long lastLook;
  private int readers;

  /** The most {@link #readers} in the epoch under way. */
  private int mostReaders;

  private long hiddenOpens;
  private Split told = new Split(0, 0, 0, 0);

  /**
   * The figures before the opens that are being counted; {@link #settling} are those before the
   * next opens.
   */
  private JobCounts settled;

  private JobCounts settling;
  private boolean settles;

  JobFigures(String name, LongSupplier nanoTime) {
    this.name = name;
    this.nanoTime = nanoTime;
    fetching = new FetchingTime(nanoTime);
    lastActive = nanoTime.getAsLong();
    lastLook = lastActive - 1; // before the first open
    epochBegan = JobCounts.NOTHING.at(lastActive);
    settled = epochBegan;
    settling = epochBegan;
  }

  /** Returns the counter of bytes that came from a tier. */
  LongAdder fetched(ReadSource source) {
    return source == ReadSource.PEER ? peerBytes : originBytes;
  }

  /**
   * Returns the counter of bytes that a tier sent for another job, while this one waited for them.
   */
  LongAdder shared(ReadSource source) {
    return source == ReadSource.PEER ? sharedPeerBytes : sharedOriginBytes;
  }

  /**
   * Returns the counter of the time of reads that a tier answered; memory counts as the origin, and
   * takes next to no time.
   */
  LongAdder stalled(ReadSource source) {
    return source == ReadSource.PEER ? peerStallNanos : originStallNanos;
  }

  synchronized void hasAnotherProcess() {
    processes++;
  }

  synchronized int processes() {
    return processes;
  }

  /**
   * Counts opens; counts each file's size in items.
   *
   * @param hidden whether nothing is known of the process
   */
  synchronized void opened(OpenBatch batch, int itemSize, boolean hidden) {
    active();
    hiddenOpens += hidden ? batch.count() : 0;
    for (int i = 0; i < batch.count(); i++) {
      JobCounts begun = detector.opened(batch.file(i), this::beforeOpenWithoutLocking);
      if (begun != null) {
        beginWithoutLocking(begun);
      }
      opens++;
      items += batch.items(i, itemSize);
      bytes += batch.size(i);
    }
  }

  private void beginWithoutLocking(JobCounts begun) {
    ended.addLast(new Epoch(epoch, begun.since(epochBegan), mostReaders));
    mostReaders = readers;
    if (ended.size() >= MOST_EPOCHS) {
      // The first one stays: perhaps no other has fetched enough to tell how fast the origin is.
      Epoch first = ended.removeFirst();
      ended.removeFirst();
      ended.addFirst(first);
    }
    epochBegan = begun;
    epoch++;
  }

  /**
   * Returns the figures before an open. The watcher reports opens a little later, when their misses
   * may have been counted already. So these are the figures of the moment when the watcher read the
   * previous opens.
   */
  private JobCounts beforeOpenWithoutLocking() {
    JobCounts other = settles ? settled : countsWithoutLocking();
    return other.withOpens(opens, items, bytes);
  }

  /** Notes that the opens that are counted next were made after those that have been counted. */
  synchronized void settle() {
    settled = settles ? settling : countsWithoutLocking();
    settling = countsWithoutLocking();
    settles = true;
  }

  private JobCounts countsWithoutLocking() {
    return new JobCounts(
        opens,
        items,
        bytes,
        misses.sum(),
        new Tiers(originBytes.sum(), peerBytes.sum()),
        new Tiers(sharedOriginBytes.sum(), sharedPeerBytes.sum()),
        new Tiers(originStallNanos.sum(), peerStallNanos.sum()),
        fetching.nanos(),
        readerTimes.plus(ReaderTimes.hidden(hiddenOpens)),
        nanoTime.getAsLong() - paused);
  }

  /**
   * Tells whether the fetch of a part counts as a miss of the item. It does if the part begins the
   * item, or if the item is not among the last ones.
   */
  synchronized boolean isMiss(Object item, boolean begins) {
    for (@Nullable Object recent : recentItems) {
      if (item.equals(recent)) {
        return begins;
      }
    }
    recentItems[nextItem] = item;
    nextItem = (nextItem + 1) % RECENT_ITEMS;
    return true;
  }

  /** Tells whether the job was active since the last look at its readers. */
  synchronized boolean wasActive() {
    return lastActive - lastLook > 0;
  }

  /** Returns the bytes that its average reader takes in a nanosecond; 0 if that is not known. */
  synchronized double bytesPerReaderNano() {
    return readerTimes.lived() == 0 ? 0 : (double) readerBytes / readerTimes.lived();
  }

  /**
   * Takes the result of a look at the readers.
   *
   * @param times since the look before
   * @param bytesTaken since the look before
   * @param alive the number of readers
   */
  synchronized void looked(long now, ReaderTimes times, long bytesTaken, int alive) {
    lastLook = now;
    readerTimes = readerTimes.plus(times);
    readerBytes += bytesTaken;
    readers = alive;
    mostReaders = Math.max(mostReaders, alive);
  }

  /**
   * Returns what the readers did since the mount, in seconds. No figure ever falls, though it is
   * computed from times of different looks.
   */
  synchronized Optional<Split> splitSeconds() {
    Epoch all = new Epoch(0, countsWithoutLocking(), 0);
    EpochSplit.seconds(all.figures()).ifPresent(now -> told = told.most(now));
    return told.sum() == 0 ? Optional.empty() : Optional.of(told);
  }

  /** Notes that a thread opens or reads something, or that its read has been answered. */
  void active() {
    long now = nanoTime.getAsLong();
    if (now - lastActive > SHORTEST_PAUSE) {
      endRest(now);
    }
    lastActive = now;
  }

  /** Notes that another thread waits for a read. */
  void readBegins() {
    active();
    fetching.begins();
  }

  /** Notes that a thread waits no more, after its last answer. */
  void readEnds() {
    fetching.ends();
  }

  private synchronized void endRest(long now) {
    long rest = now - lastActive;
    if (rest <= SHORTEST_PAUSE || fetching.isUnderWay()) {
      return; // another thread has ended it, or waits for storage
    }
    if (isPauseWithoutLocking(rest)) {
      // no figures that were kept meanwhile are of a later moment than its end
      settled = settled.until(lastActive - paused);
      settling = settling.until(lastActive - paused);
      paused += rest;
      pauseEnded = now;
    }
    rests[magnitude(rest)]++;
    lastActive = now;
  }

  private boolean isPauseWithoutLocking(long rest) {
    long inPass = opens - epochBegan.opens();
    long active = lastActive - paused - epochBegan.nanos();
    if (inPass < FEWEST_OPENS || rest < TIMES_LONGER * (active / inPass)) {
      return false;
    }
    return rest > LONG_PAUSE || (rest <= active && restsLikeWithoutLocking(rest) <= epoch);
  }

  /** Returns how many rests there were that are about as long, or longer. */
  private int restsLikeWithoutLocking(long rest) {
    int sum = 0;
    for (int like = magnitude(rest) - 1; like < rests.length; like++) {
      sum += rests[like];
    }
    return sum;
  }

  private static int magnitude(long nanos) {
    return Long.SIZE - 1 - Long.numberOfLeadingZeros(nanos);
  }

  /** Tells whether the job has paused since a moment. */
  synchronized boolean hasPausedSince(long nanos) {
    return paused > 0 && pauseEnded - nanos > 0;
  }

  long lastActive() {
    return lastActive;
  }

  /** Returns the figures since the mount. */
  synchronized JobCounts counts() {
    return countsWithoutLocking();
  }

  /**
   * Returns the first epoch and the last ones; the one under way comes last. Returns none without
   * opens.
   */
  synchronized List<Epoch> epochs() {
    List<Epoch> all = new ArrayList<>(ended);
    if (opens > 0) {
      JobCounts sofar = countsWithoutLocking();
      // a job of which a read waits does not rest
      if (!fetching.isUnderWay()) {
        sofar = sofar.until(Math.max(lastActive - paused, epochBegan.nanos()));
      }
      all.add(new Epoch(epoch, sofar.since(epochBegan), mostReaders));
    }
    return all;
  }
}
