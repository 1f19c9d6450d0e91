package io.holdfast.fs.tree;

import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.OriginPath;
import java.util.ArrayDeque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One walk over the dataset that counts what is there, so that the hit ratio can be planned before
 * the first epoch. It follows no symlink; an entry that cannot be read is logged and left out.
 * {@link #run()} is called once, by one thread; the figures may be read by any, also while it runs.
 */
public final class DatasetScan implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(DatasetScan.class);

  private final Origin origin;
  private final long pageSize;
  private final Selected selected;
  private final CountDownLatch finished = new CountDownLatch(1);
  private volatile long files;
  private volatile long bytes;
  private volatile long pageBytes;
  private long selectedPageBytes;
  private volatile boolean complete;
  private volatile boolean stopped;

  /**
   * Some of the files.
   *
   * @param files tells which
   * @param taker told once what they take in whole pages, when everything has been counted
   */
  public record Selected(Predicate<OriginPath> files, LongConsumer taker) {}

  /**
   * Creates a scan.
   *
   * @param pageSize bytes of a page of memory, for {@link #pageBytes()}
   * @param selected the files whose sum somebody wants to know
   */
  public DatasetScan(Origin origin, long pageSize, Selected selected) {
    this.origin = origin;
    this.pageSize = pageSize;
    this.selected = selected;
  }

  @Override
  public void run() {
    ArrayDeque<OriginPath> directories = new ArrayDeque<>();
    directories.add(OriginPath.ROOT);
    try {
      while (!stopped && !directories.isEmpty()) {
        scan(directories.removeLast(), directories);
      }
      complete = !stopped;
      if (complete) {
        selected.taker().accept(selectedPageBytes);
      }
    } finally {
      finished.countDown();
    }
  }

  private void scan(OriginPath directory, ArrayDeque<OriginPath> directories) {
    try {
      origin.listWithAttributes(
          directory,
          (name, type, inode, attributes) -> {
            if (!stopped) {
              count(directory.child(name), attributes, directories);
            }
          });
    } catch (FsException e) {
      log.warn("left out of the count: {}", e.getMessage());
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
  private void count(
      OriginPath path, @Nullable Attributes attributes, ArrayDeque<OriginPath> directories) {
    if (attributes == null) {
      log.warn("left out of the count: {}", path);
    } else if (attributes.isDirectory()) {
      directories.add(path);
    } else if (attributes.isRegular()) {
      files++;
      bytes += attributes.size();
      long pages = (attributes.size() + pageSize - 1) / pageSize * pageSize;
      pageBytes += pages;
      selectedPageBytes += selected.files().test(path) ? pages : 0;
    }
  }

  /** Waits until the scan has ended. */
  public boolean await(long timeout, TimeUnit unit) throws InterruptedException {
    return finished.await(timeout, unit);
  }

  /** Ends the scan early. */
  public void stop() {
    stopped = true;
  }

  /** Returns the regular files counted so far. */
  public long files() {
    return files;
  }

  /** Returns the bytes of their content. */
  public long bytes() {
    return bytes;
  }

  /**
   * Returns the bytes of their content, each file's rounded up to whole pages: what all of it would
   * take as residents.
   */
  public long pageBytes() {
    return pageBytes;
  }

  /** Tells whether everything has been counted. */
  public boolean isComplete() {
    return complete;
  }
}
