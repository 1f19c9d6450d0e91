package io.holdfast.fs.origin.s3;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.origin.Origin.ScanSink;
import io.holdfast.fs.origin.OriginPath;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * Lists all keys below a directory by flat listings of a thousand keys, regardless of directories.
 * The scan begins with one range of keys, and divides ranges while it goes on, so that several are
 * listed at once. {@link SplitPoints} guesses the dividing points from the keys so far. A division
 * costs at most one request more than a single range needs, and divisions are limited to {@link
 * #PERCENT} of the requests so far, with some in advance. So the cost is bounded for any keys, and
 * the number of ranges grows exponentially.
 *
 * <p>{@link #run()} is called once.
 */
final class S3Scan {
  /**
   * Cost of divisions, in percent of the requests so far. {@link #FREE} divisions are free at the
   * beginning, so that there are several ranges soon; the first hundred requests earn them back.
   */
  private static final int PERCENT = 9;

  private static final int FREE = 4;
  private static final int FIRST = 100;

  /** Most ranges at the same time. */
  private static final int RANGES = 16;

  /** How often a page is asked for again that the store did not give, and the first pause. */
  private static final int RETRIES = 4;

  private static final long FIRST_PAUSE_NANOS = Duration.ofMillis(500).toNanos();

  private final SortedKeys listings;
  private final Entries entries;
  private final OriginPath top;
  private final String prefix;
  private final Executor threads;
  private final ScanSink sink;
  private final SplitPoints points;
  private final AtomicInteger requests = new AtomicInteger();
  private final AtomicInteger extra = new AtomicInteger();
  private final AtomicInteger left = new AtomicInteger(1);
  private final AtomicInteger unstarted = new AtomicInteger();
  private final CountDownLatch ended = new CountDownLatch(1);

  /** Made once, because there may be no room for it when it is needed. */
  private final FsException noMemory =
      new FsException(
          FsError.NO_MEMORY,
          "keys could not be listed: the heap is full, or no thread can be started");

  private volatile boolean empty;

  S3Scan(SortedKeys listings, Entries entries, Target target, Executor threads, ScanSink sink) {
    this.listings = (page, what) -> list(listings, page, what);
    this.entries = entries;
    this.top = target.top;
    this.prefix = target.prefix;
    this.threads = threads;
    this.sink = sink;
    this.points = new SplitPoints(prefix.length());
  }

  /**
   * A directory to scan.
   *
   * @param prefix the prefix of the directory's keys
   */
  record Target(OriginPath top, String prefix) {}

  /**
   * Passes all entries, unless there are none.
   *
   * @return false where there is no key; then the sink has learned nothing of the directory either
   */
  boolean run() {
    submit(new Range(new ScannedTree(entries, sink, top, prefix), null, null, null));
    try {
      ended.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return !empty;
  }

  /** Asks for keys, and asks again, after growing pauses, a store that does not answer. */
  private ListObjectsV2Response list(SortedKeys store, SortedKeys.Page page, String what)
      throws FsException {
    for (int retries = 0; ; retries++) {
      try {
        return store.list(page, what);
      } catch (FsException e) {
        if (e.code() != FsError.TIMED_OUT || retries == RETRIES || !sink.goesOn()) {
          throw e;
        }
      }
      LockSupport.parkNanos(FIRST_PAUSE_NANOS << retries);
    }
  }

  private void submit(Range range) {
    unstarted.incrementAndGet();
    try {
      threads.execute(range);
    } catch (RejectedExecutionException e) {
      unstarted.decrementAndGet();
      done(); // the mount is ending
    } catch (OutOfMemoryError e) {
      // no thread can be started
      unstarted.decrementAndGet();
      try {
        range.fail(e);
      } finally {
        done();
      }
    }
  }

  private void done() {
    if (left.decrementAndGet() == 0) {
      ended.countDown();
    }
  }

  /** Takes a permit for one request more than needed, if there is one. */
  private boolean mayDivide() {
    if (left.get() >= RANGES || unstarted.get() > 0) {
      return false;
    }
    int spent = extra.incrementAndGet();
    int first = Math.min(FIRST, requests.get());
    int free = FREE - FREE * first / FIRST;
    if ((spent - free) * 100 > requests.get() * PERCENT) {
      extra.decrementAndGet();
      return false;
    }
    return true;
  }

  /** The keys after one key and up to another. Used by one thread, except {@link #first}. */
  private final class Range implements Runnable {
    private final ScannedTree tree;

    /** The next range: its first key bounds where this range may be divided. */
    private @Nullable Range next;

    /** The last key of this range, at which the next one begins; null for the last range. */
    private @Nullable String end;

    private @Nullable String after;

    /** Where the store goes on behind {@link #after}; null where that key itself tells it. */
    private @Nullable String token;

    /** The first key that was found; null before that. */
    private volatile @Nullable String first;

    Range(ScannedTree tree, @Nullable String after, @Nullable String end, @Nullable Range next) {
      this.tree = tree;
      this.after = after;
      this.end = end;
      this.next = next;
    }

    @Override
    public void run() {
      unstarted.decrementAndGet();
      try {
        boolean more = true;
        while (more && sink.goesOn()) {
          more = readPage();
        }
        if (!more && !empty) {
          tree.end(end, this::isDirectory);
        }
      } catch (FsException | RuntimeException | OutOfMemoryError e) {
        fail(e);
      } finally {
        done();
      }
    }

    void fail(Throwable cause) {
      try {
        tree.fail(asFailure(cause));
      } catch (OutOfMemoryError e) {
        // no room for the entries that were to be passed before
        sink.failed(top, noMemory);
        OutOfMemory.tell(e);
      }
    }

    private FsException asFailure(Throwable cause) {
      if (cause instanceof OutOfMemoryError met) {
        OutOfMemory.tell(met);
        return noMemory;
      }
      return cause instanceof FsException failure
          ? failure
          : new FsException(FsError.IO, top + ": could not be listed: " + cause, cause);
    }

    private boolean isDirectory(String key) throws FsException {
      extra.incrementAndGet();
      return listings.hasKeys(key + "/", top.toString());
    }

    private boolean readPage() throws FsException {
      SortedKeys.Page asked = SortedKeys.Page.flat(prefix, after, SortedKeys.Page.WHOLE);
      ListObjectsV2Response page = listings.list(asked.next(token), top.toString());
      requests.incrementAndGet();
      empty = after == null && page.contents().isEmpty();
      List<String> keys = new ArrayList<>(page.contents().size());
      for (S3Object each : page.contents()) {
        String key = each.key();
        if (first == null) {
          first = key;
        }
        if (end != null && key.compareTo(end) > 0) {
          return false;
        }
        keys.add(key);
        tree.key(key, entries.file(key, each.size(), each.lastModified(), each.eTag()));
      }
      if (!CheckedKeys.isTruncated(page) || keys.isEmpty()) {
        return false;
      }
      String last = keys.get(keys.size() - 1);
      after = last;
      // the store has another key, and would go on before it or behind others
      token = KeyNames.hasReplacement(last) ? page.nextContinuationToken() : null;
      points.learn(keys);
      divide(keys.get(0), last);
      return true;
    }

    private void divide(String firstOfPage, String last) {
      if (!mayDivide()) {
        return;
      }
      String known = next == null ? null : next.first;
      boolean real = known != null;
      String point =
          points.between(new SplitPoints.Known(firstOfPage, last, real ? known : end, real));
      boolean within =
          point != null && point.compareTo(last) > 0 && (end == null || point.compareTo(end) < 0);
      if (!within) {
        extra.decrementAndGet();
        return;
      }
      Range other = new Range(tree.behind(point), point, end, next);
      next = other;
      end = point;
      left.incrementAndGet();
      submit(other);
    }
  }
}
