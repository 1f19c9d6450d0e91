package io.holdfast.fs.tree;

import io.holdfast.fs.FsException;
import io.holdfast.fs.figures.DatasetFigures;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.OriginPath;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Scans the whole dataset, fills the tree and counts the files, so that the hit ratio can be
 * planned before the first epoch. One thread calls {@link #run()}, once or repeatedly. Any thread
 * may read the figures: during the first scan they are the counts so far, later those of the last
 * complete scan.
 */
public final class DatasetScan implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(DatasetScan.class);

  /** The pause after a scan that was cut short, in durations of that scan, and the shortest one. */
  private static final int PAUSES = 4;

  private static final long SHORTEST_PAUSE_NANOS = Duration.ofSeconds(10).toNanos();

  private final TreeScan scan;
  private final Tree tree;
  private final Rules rules;
  private final CountDownLatch finished = new CountDownLatch(1);
  private volatile Tally tally = new Tally();
  private volatile boolean complete;
  private volatile boolean cutShort;

  /** When a scan that was cut short is due again, on the steady clock. */
  private volatile long due;

  private volatile boolean stopped;

  /**
   * A selection of files.
   *
   * @param files tells whether a file is selected
   * @param taker takes the whole pages of the selected files when everything has been counted
   */
  public record Selected(Predicate<OriginPath> files, LongConsumer taker) {}

  /**
   * How to scan.
   *
   * @param pageSize bytes of a memory page, for {@link #pageBytes()}
   * @param selected the files to count separately
   * @param changes learns of the changes that a later scan finds
   * @param clock tells the time
   */
  public record Rules(
      long pageSize, Selected selected, TreePass.ChangeSink changes, Supplier<Moment> clock) {}

  /**
   * Most that a filesystem's compression is assumed to save: content by allocated bytes. A file
   * with a higher ratio is sparse.
   */
  private static final long MOST_COMPRESSED = 8;

  /** Bytes that are counted for a file in any case: some filesystems report no allocated blocks. */
  private static final long MOST_UNTOLD = 1 << 20;

  private static final long BLOCK = 512;

  /** The counts of one scan. */
  private static final class Tally {
    final LongAdder files = new LongAdder();
    final LongAccumulator bytes = sum();
    final LongAccumulator pageBytes = sum();
    final LongAccumulator selectedPageBytes = sum();
    final LongAdder entries = new LongAdder();
    final LongAdder hidden = new LongAdder();

    /**
     * The first hidden key in the order of names, so that every scan reports the same one; empty
     * for none.
     */
    final AtomicReference<String> hiddenExample = new AtomicReference<>("");

    volatile long nanos;
    volatile long ended;

    /**
     * Adds without overflow: a user can make sparse files whose sizes add up to more than a long
     * holds.
     */
    private static LongAccumulator sum() {
      return new LongAccumulator((a, b) -> a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b, 0);
    }
  }

  /** Creates the scan of a tree. */
  public DatasetScan(TreeScan scan, Tree tree, Rules rules) {
    this.scan = scan;
    this.tree = tree;
    this.rules = rules;
  }

  @Override
  public void run() {
    Tally counted = new Tally();
    if (!complete) {
      tally = counted;
    }
    Moment begun = rules.clock.get();
    boolean whole = false;
    try {
      tree.refresh(tree.root());
      TreePass pass = new TreePass(tree, begun, rules.changes);
      scan.run(tree.root(), pass, new Count(counted), () -> !stopped);
      if (!stopped) {
        pass.requireWhole();
        whole = true;
        counted.ended = rules.clock.get().steady();
        counted.nanos = counted.ended - begun.steady();
        tally = counted;
        complete = true;
        rules.selected.taker().accept(counted.selectedPageBytes.get());
        log.info(
            "scanned {} entries in {}, {} of those known before were different",
            counted.entries,
            Duration.ofNanos(counted.nanos),
            pass.different());
      }
    } catch (FsException e) {
      log.warn("the dataset could not be scanned as a whole: {}", e.getMessage());
    } finally {
      long now = rules.clock.get().steady();
      due = now + Math.max(SHORTEST_PAUSE_NANOS, PAUSES * (now - begun.steady()));
      cutShort = !whole;
      tree.scanned();
      finished.countDown();
    }
  }

  /** Counts the entries that a scan finds. */
  private final class Count implements TreeScan.Counter {
    private final Tally to;

    Count(Tally to) {
      this.to = to;
    }

    @Override
    public void found(OriginPath directory, OriginPath name, Attributes attributes) {
      to.entries.increment();
      if (attributes.isRegular()) {
        to.files.increment();
        to.bytes.accumulate(attributes.size());
        long pages = inPages(useful(attributes), rules.pageSize);
        to.pageBytes.accumulate(pages);
        if (rules.selected.files().test(directory.child(name.bytes()))) {
          to.selectedPageBytes.accumulate(pages);
        }
      }
    }

    @Override
    public void hidden(String key) {
      to.hidden.increment();
      to.hiddenExample.accumulateAndGet(key, (a, b) -> a.isEmpty() || b.compareTo(a) < 0 ? b : a);
    }
  }

  /**
   * Returns the bytes of a file that jobs are expected to read: its size, unless the file is mostly
   * holes. Otherwise one sparse file of a TiB, which costs its user nothing, would make the dataset
   * so large that a policy that admits a share of it admits nothing.
   */
  static long useful(Attributes file) {
    long blocks = Math.min(Math.max(0, file.blocks()), Long.MAX_VALUE / BLOCK / MOST_COMPRESSED);
    return Math.min(file.size(), Math.max(MOST_UNTOLD, blocks * BLOCK * MOST_COMPRESSED));
  }

  private static long inPages(long bytes, long pageSize) {
    long rest = bytes % pageSize;
    return rest == 0 || bytes > Long.MAX_VALUE - pageSize ? bytes : bytes - rest + pageSize;
  }

  /**
   * Tells whether the last scan was cut short and the next one should begin. The pause before that
   * grows with the scan, so that a directory that always fails does not keep the origin busy.
   */
  public boolean isDueAgain() {
    return cutShort && rules.clock.get().steady() - due >= 0;
  }

  /** Waits until the first scan has ended. */
  public boolean await(long timeout, TimeUnit unit) throws InterruptedException {
    return finished.await(timeout, unit);
  }

  /** Ends the running scan early, and every later one. */
  public void stop() {
    stopped = true;
  }

  /** Returns the number of regular files. */
  public long files() {
    return tally.files.sum();
  }

  /** Returns the bytes of the files' content. */
  public long bytes() {
    return tally.bytes.get();
  }

  /**
   * Returns the bytes of the files' content, each file rounded up to whole pages: the memory for
   * all of them as residents. A sparse file counts only as much as jobs are expected to read.
   */
  public long pageBytes() {
    return tally.pageBytes.get();
  }

  /** Returns how many keys of the store have no valid path and are hidden. */
  public long hiddenKeys() {
    return tally.hidden.sum();
  }

  /** Returns one of the hidden keys; empty where there is none. */
  public String hiddenKey() {
    return tally.hiddenExample.get();
  }

  /** Returns the duration of the last complete scan, or 0 during the first one. */
  public Duration took() {
    return Duration.ofNanos(tally.nanos);
  }

  /** Returns the time since the last complete scan ended, or 0 during the first one. */
  public Duration age() {
    return complete ? Duration.ofNanos(rules.clock.get().steady() - tally.ended) : Duration.ZERO;
  }

  /** Returns the number of entries that the tree knows. */
  public long names() {
    return tree.size();
  }

  /** Tells whether an entry has had an access control list that the kernel can evaluate. */
  public boolean hasAcls() {
    return tree.hasAcls();
  }

  /** Returns the bytes of memory that the names take. */
  public long memoryBytes() {
    return tree.bytes();
  }

  /** Returns the bytes of names that did not fit where names belong and are stored elsewhere. */
  public long elsewhereBytes() {
    return tree.elsewhereBytes();
  }

  /** Returns how many directory listings, by scans or others, were incomplete. */
  public long incompleteListings() {
    return tree.incompleteListings();
  }

  /**
   * Tells whether the first scan has ended, whole or not. A directory that the origin never lists
   * is left out of every scan, so nobody may wait for a whole one.
   */
  public boolean hasEnded() {
    return finished.getCount() == 0;
  }

  /** Tells whether a scan has completed. */
  public boolean isComplete() {
    return complete;
  }

  /**
   * Returns the current figures.
   *
   * @param entriesLoaded names that were loaded from an earlier mount
   * @param acls how ACLs decide
   */
  public DatasetFigures figures(long entriesLoaded, String acls) {
    return new DatasetFigures(
        files(),
        bytes(),
        isComplete(),
        entriesLoaded,
        took().toMillis() / 1000.0,
        age().toSeconds(),
        names(),
        memoryBytes(),
        elsewhereBytes(),
        incompleteListings(),
        hiddenKeys(),
        hiddenKey(),
        acls);
  }
}
