package io.holdfast.fs.origin;

import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Origin.EntrySink;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Hands the entries of a listing from the thread that lists to the thread that takes them, in
 * batches. So the second thread sees the progress of the first, and can give it up. Holds a few
 * batches at most: the listing thread waits for the taking one.
 */
final class ListedBatches {
  private static final int BATCH = 1024;
  private static final int BATCHES = 4;

  private static final long RETRY_MILLIS = 100;

  /** A call of the sink. */
  @FunctionalInterface
  private interface Told {
    void tell(EntrySink sink) throws FsException;
  }

  /** A listing that passes its entries on. */
  @FunctionalInterface
  interface Lister {
    void list(EntrySink sink) throws FsException;
  }

  private final BlockingQueue<List<Told>> batches = new ArrayBlockingQueue<>(BATCHES);
  private final Duration deadline;
  private volatile boolean abandoned;

  /** The batch of the listing thread. */
  private List<Told> batch = new ArrayList<>();

  private long begun = System.nanoTime();

  /**
   * Creates it.
   *
   * @param deadline longest wait for the next batch; a slow store passes a smaller batch after a
   *     quarter of it
   */
  ListedBatches(Duration deadline) {
    this.deadline = deadline;
  }

  /**
   * Runs a listing to its end, or until it is abandoned.
   *
   * @param taker the sink that takes the batches; only asked what it knows and wants
   * @return true, for a call that must return a value
   */
  boolean fill(EntrySink taker, Lister lister) throws FsException, InterruptedException {
    try {
      EntrySink entries =
          new EntrySink() {
            @Override
            public void entry(byte[] name, int type, long inode, Attributes attributes) {
              add(sink -> sink.entry(name, type, inode, attributes));
            }

            @Override
            public void unread(byte[] name, int type, long inode, FsException cause) {
              add(sink -> sink.unread(name, type, inode, cause));
            }

            @Override
            public boolean isSynced() {
              return taker.isSynced();
            }

            @Override
            public void way(List<Attributes> way) {
              add(sink -> sink.way(way));
            }
          };
      lister.list(entries.knowing(taker.known()));
      if (!batch.isEmpty()) {
        put();
      }
    } finally {
      // an empty batch marks the end
      batch = new ArrayList<>();
      put();
    }
    return true;
  }

  private void add(Told told) {
    batch.add(told);
    if (batch.size() == BATCH || System.nanoTime() - begun > deadline.toNanos() / 4) {
      try {
        put();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new CancellationException("interrupted");
      }
    }
  }

  private void put() throws InterruptedException {
    while (!abandoned && !batches.offer(batch, RETRY_MILLIS, TimeUnit.MILLISECONDS)) {
      // the taking thread is busy, or has just given up
    }
    batch = new ArrayList<>();
    begun = System.nanoTime();
    if (abandoned) {
      throw new CancellationException("nobody wants the listing any more");
    }
  }

  /**
   * Passes the next batch.
   *
   * @return false at the end
   * @throws FsException from the sink
   */
  boolean pass(EntrySink sink) throws InterruptedException, TimeoutException, FsException {
    List<Told> next = batches.poll(deadline.toNanos(), TimeUnit.NANOSECONDS);
    if (next == null) {
      throw new TimeoutException();
    }
    for (Told told : next) {
      told.tell(sink);
    }
    return !next.isEmpty();
  }

  /** Ends the listing at its next batch. */
  void abandon() {
    abandoned = true;
  }
}
