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
 * Scans of the whole dataset, which fill the tree and count what is there, so that the hit ratio
 * can be planned before the first epoch. {@link #run()} is called by one thread, once or again and
 * again; the figures may be read by any, also while it runs: those of the first scan as it goes on,
 * then those of the last that was complete.
 */
public final class DatasetScan implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(DatasetScan.class);

  private final TreeScan scan;
  private final Tree tree;
  private final Rules rules;
  private final CountDownLatch finished = new CountDownLatch(1);
  private volatile Tally tally = new Tally();
  private volatile boolean complete;
  private volatile boolean stopped;

  /**
   * Some of the files.
   *
   * @param files tells which
   * @param taker told what they take in whole pages, when everything has been counted
   */
  public record Selected(Predicate<OriginPath> files, LongConsumer taker) {}

  /**
   * How to scan.
   *
   * @param pageSize bytes of a page of memory, for {@link #pageBytes()}
   * @param selected the files whose sum somebody wants to know
   * @param changes learns what a scan after the first finds changed
   * @param clock tells the time
   */
  public record Rules(
      long pageSize, Selected selected, TreePass.ChangeSink changes, Supplier<Moment> clock) {}

  /**
   * What a file takes at the origin may be so much less than its content: filesystems compress.
   * What has still more of it is sparse.
   */
  private static final long MOST_COMPRESSED = 8;

  /** What a file may have that takes nothing at the origin: some filesystems do not say. */
  private static final long MOST_UNTOLD = 1 << 20;

  private static final long BLOCK = 512;

  /** What one scan has counted. */
  private static final class Tally {
    final LongAdder files = new LongAdder();
    final LongAccumulator bytes = sum();
    final LongAccumulator pageBytes = sum();
    final LongAccumulator selectedPageBytes = sum();
    final LongAdder entries = new LongAdder();
    final LongAdder hidden = new LongAdder();

    /** The first in the order of names, so that each scan has the same; empty for none. */
    final AtomicReference<String> hiddenExample = new AtomicReference<>("");

    volatile long nanos;
    volatile long ended;

    /** Sizes are what users say they are: a few of them may come to more than there are numbers. */
    private static LongAccumulator sum() {
      return new LongAccumulator((a, b) -> a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b, 0);
    }
  }

  /** Creates the scans of a tree. */
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
    try {
      tree.refresh(tree.root());
      TreePass pass = new TreePass(tree, begun, rules.changes);
      scan.run(tree.root(), pass, new Count(counted), () -> !stopped);
      counted.ended = rules.clock.get().steady();
      counted.nanos = counted.ended - begun.steady();
      if (!stopped) {
        tally = counted;
        complete = true;
        rules.selected.taker().accept(counted.selectedPageBytes.get());
        log.info(
            "scanned {} entries in {}, {} of those known before were different",
            counted.entries,
            Duration.ofNanos(counted.nanos),
            pass.different());
        pass.requireWhole();
      }
    } catch (FsException e) {
      log.warn("the dataset could not be scanned as a whole: {}", e.getMessage());
    } finally {
      tree.scanned();
      finished.countDown();
    }
  }

  /** Adds what a scan finds. */
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
   * Returns the bytes of a file that jobs may be expected to read: its size, unless most of it is
   * holes. One sparse file of a TiB, which costs its user nothing, would otherwise make a dataset
   * so large that a policy which admits a share of it admits nothing.
   */
  static long useful(Attributes file) {
    long blocks = Math.min(Math.max(0, file.blocks()), Long.MAX_VALUE / BLOCK / MOST_COMPRESSED);
    return Math.min(file.size(), Math.max(MOST_UNTOLD, blocks * BLOCK * MOST_COMPRESSED));
  }

  private static long inPages(long bytes, long pageSize) {
    long rest = bytes % pageSize;
    return rest == 0 || bytes > Long.MAX_VALUE - pageSize ? bytes : bytes - rest + pageSize;
  }

  /** Waits until the first scan has ended. */
  public boolean await(long timeout, TimeUnit unit) throws InterruptedException {
    return finished.await(timeout, unit);
  }

  /** Ends the scan early, and for good. */
  public void stop() {
    stopped = true;
  }

  /** Returns the regular files counted. */
  public long files() {
    return tally.files.sum();
  }

  /** Returns the bytes of their content. */
  public long bytes() {
    return tally.bytes.get();
  }

  /**
   * Returns the bytes of their content, each file's rounded up to whole pages: what all of it would
   * take as residents. Of sparse files only what jobs may be expected to read.
   */
  public long pageBytes() {
    return tally.pageBytes.get();
  }

  /** Returns how many keys of the store have no path, and are not shown. */
  public long hiddenKeys() {
    return tally.hidden.sum();
  }

  /** Returns one of them; empty where there is none. */
  public String hiddenKey() {
    return tally.hiddenExample.get();
  }

  /** Returns how long the scan took, or 0 while the first one runs. */
  public Duration took() {
    return Duration.ofNanos(tally.nanos);
  }

  /** Returns how long ago the last scan that was complete ended, or 0 while the first one runs. */
  public Duration age() {
    return complete ? Duration.ofNanos(rules.clock.get().steady() - tally.ended) : Duration.ZERO;
  }

  /** Returns how many entries the tree knows. */
  public long names() {
    return tree.size();
  }

  /** Tells whether entries have had access control lists that the kernel can decide by. */
  public boolean hasAcls() {
    return tree.hasAcls();
  }

  /** Returns the bytes of memory that they take. */
  public long memoryBytes() {
    return tree.bytes();
  }

  /** Returns the bytes of it that found no room where names belong. */
  public long elsewhereBytes() {
    return tree.elsewhereBytes();
  }

  /**
   * Returns how many listings of directories could not be brought in whole, of scans and others.
   */
  public long incompleteListings() {
    return tree.incompleteListings();
  }

  /** Tells whether everything has been counted. */
  public boolean isComplete() {
    return complete;
  }

  /**
   * Returns the figures of this moment.
   *
   * @param entriesLoaded how many names were known from a mount before this one
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
