package io.holdfast.fs.tree;

import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.OriginPath;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
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
  private final LongConsumer whole;
  private final CountDownLatch finished = new CountDownLatch(1);
  private volatile long files;
  private volatile long bytes;
  private volatile long pageBytes;
  private volatile boolean complete;
  private volatile boolean stopped;

  /**
   * Creates a scan.
   *
   * @param pageSize bytes of a page of memory, for {@link #pageBytes()}
   * @param whole told {@link #pageBytes()} once everything has been counted
   */
  public DatasetScan(Origin origin, long pageSize, LongConsumer whole) {
    this.origin = origin;
    this.pageSize = pageSize;
    this.whole = whole;
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
        whole.accept(pageBytes);
      }
    } finally {
      finished.countDown();
    }
  }

  private void scan(OriginPath directory, ArrayDeque<OriginPath> directories) {
    List<byte[]> others = new ArrayList<>();
    try {
      origin.list(
          directory,
          (name, type, inode) -> {
            if (type == Attributes.DIRECTORY) {
              directories.add(directory.child(name));
            } else if (type == Attributes.REGULAR || type == 0) {
              others.add(name);
            }
          });
    } catch (FsException e) {
      log.warn("left out of the count: {}", e.getMessage());
    }
    for (byte[] name : others) {
      if (stopped) {
        return;
      }
      count(directory.child(name), directories);
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
  private void count(OriginPath path, ArrayDeque<OriginPath> directories) {
    try {
      Attributes attributes = origin.stat(path);
      if (attributes.isRegular()) {
        files++;
        bytes += attributes.size();
        pageBytes += (attributes.size() + pageSize - 1) / pageSize * pageSize;
      } else if (attributes.isDirectory()) {
        directories.add(path);
      }
    } catch (FsException e) {
      log.warn("left out of the count: {}", e.getMessage());
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
