package io.holdfast.fs.origin;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.origin.Origin.ScanSink;
import io.holdfast.fs.origin.Origin.ScannedEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A scan that lists directories one by one, several at once. For stores that have directories.
 * {@link #walk} is called once.
 */
public final class DirectoryWalk {
  /** Entries that are passed together. */
  private static final int BATCH = 1024;

  private final Lister lister;
  private final Executor threads;
  private final ScanSink sink;

  /** Directories that are being listed or wait to be listed. */
  private final AtomicLong left = new AtomicLong();

  private final CountDownLatch end = new CountDownLatch(1);

  /** Made once, because there may be no room for it when it is needed. */
  private final FsException noMemory =
      new FsException(
          FsError.NO_MEMORY,
          "a directory could not be listed: the heap is full, or no thread can be started");

  /** Lists a directory, as {@link Origin#list} does. */
  @FunctionalInterface
  public interface Lister {
    /** Passes the entries of a directory; see {@link Origin#list}. */
    void list(OriginPath directory, Origin.EntrySink sink) throws FsException;
  }

  /**
   * Creates a walk.
   *
   * @param threads runs the listings; not the thread that calls {@link #walk}
   */
  public DirectoryWalk(Lister lister, Executor threads, ScanSink sink) {
    this.lister = lister;
    this.threads = threads;
    this.sink = sink;
  }

  /** Passes everything below a directory; see {@link Origin#scan}. */
  public void walk(OriginPath top) {
    submit(top);
    try {
      end.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void submit(OriginPath directory) {
    left.incrementAndGet();
    try {
      threads.execute(
          () -> {
            try {
              list(directory);
            } finally {
              done();
            }
          });
    } catch (RejectedExecutionException e) {
      done(); // the mount is ending
    } catch (OutOfMemoryError e) {
      // no thread can be started
      try {
        failed(directory, e);
      } finally {
        done();
      }
    }
  }

  /** Reports a directory; the others are listed all the same. */
  private void failed(OriginPath directory, OutOfMemoryError cause) {
    try {
      sink.failed(directory, noMemory);
    } catch (OutOfMemoryError e) {
      OutOfMemory.tell(e);
    }
    OutOfMemory.tell(cause);
  }

  private void done() {
    if (left.decrementAndGet() == 0) {
      end.countDown();
    }
  }

  private void list(OriginPath directory) {
    if (!sink.goesOn()) {
      return;
    }
    List<OriginPath> within = new ArrayList<>();
    try {
      Batches batches = new Batches(directory, within);
      lister.list(directory, batches.knowing(sink.known(directory)));
      batches.pass();
      sink.complete(directory);
    } catch (FsException e) {
      sink.failed(directory, e);
    } catch (CancellationException e) {
      return; // the sink wants no more entries
    } catch (OutOfMemoryError e) {
      failed(directory, e);
    } catch (RuntimeException e) {
      sink.failed(
          directory, new FsException(FsError.IO, directory + ": could not be listed: " + e, e));
    }
    within.forEach(this::submit);
  }

  private final class Batches implements Origin.EntrySink {
    private final OriginPath directory;
    private final List<OriginPath> directories;
    private List<ScannedEntry> entries = new ArrayList<>();

    Batches(OriginPath directory, List<OriginPath> directories) {
      this.directory = directory;
      this.directories = directories;
    }

    @Override
    public boolean isSynced() {
      return sink.isSynced();
    }

    @Override
    public void way(List<Attributes> way) throws FsException {
      if (sink.goesOn()) {
        sink.way(directory, way);
      }
    }

    @Override
    public void entry(byte[] name, int type, long inode, Attributes attributes) {
      entries.add(new ScannedEntry(OriginPath.of(name), attributes));
      if (attributes.isDirectory()) {
        directories.add(directory.child(name));
      }
      if (entries.size() == BATCH) {
        pass();
        if (!sink.goesOn()) {
          throw new CancellationException("nobody wants the scan any more");
        }
      }
    }

    @Override
    public void unread(byte[] name, int type, long inode, FsException cause) {
      if (sink.goesOn()) {
        sink.unread(directory, OriginPath.of(name), cause);
      }
    }

    void pass() {
      if (!entries.isEmpty() && sink.goesOn()) {
        sink.entries(directory, entries);
      }
      entries = new ArrayList<>();
    }
  }
}
