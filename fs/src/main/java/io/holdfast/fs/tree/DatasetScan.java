package io.holdfast.fs.tree;

import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.OriginPath;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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

  /** What one scan has counted. */
  private static final class Tally {
    final LongAdder files = new LongAdder();
    final LongAdder bytes = new LongAdder();
    final LongAdder pageBytes = new LongAdder();
    final LongAdder selectedPageBytes = new LongAdder();
    final LongAdder entries = new LongAdder();
    volatile long nanos;
    volatile long ended;
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
      scan.run(tree.root(), pass, (in, name, is) -> count(counted, in, name, is), () -> !stopped);
      counted.ended = rules.clock.get().steady();
      counted.nanos = counted.ended - begun.steady();
      if (!stopped) {
        tally = counted;
        complete = true;
        rules.selected.taker().accept(counted.selectedPageBytes.sum());
        log.info(
            "scanned {} entries in {}, {} of those known before were different",
            counted.entries,
            Duration.ofNanos(counted.nanos),
            pass.different());
      }
    } catch (FsException e) {
      log.warn("the dataset could not be scanned: {}", e.getMessage());
    } finally {
      finished.countDown();
    }
  }

  private void count(Tally to, OriginPath directory, OriginPath name, Attributes attributes) {
    to.entries.increment();
    if (attributes.isRegular()) {
      to.files.increment();
      to.bytes.add(attributes.size());
      long pages = (attributes.size() + rules.pageSize - 1) / rules.pageSize * rules.pageSize;
      to.pageBytes.add(pages);
      if (rules.selected.files().test(directory.child(name.bytes()))) {
        to.selectedPageBytes.add(pages);
      }
    }
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
    return tally.bytes.sum();
  }

  /**
   * Returns the bytes of their content, each file's rounded up to whole pages: what all of it would
   * take as residents.
   */
  public long pageBytes() {
    return tally.pageBytes.sum();
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

  /** Returns the bytes of memory that they take. */
  public long memoryBytes() {
    return tree.bytes();
  }

  /** Tells whether everything has been counted. */
  public boolean isComplete() {
    return complete;
  }
}
