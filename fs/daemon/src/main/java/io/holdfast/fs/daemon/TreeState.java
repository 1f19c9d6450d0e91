package io.holdfast.fs.daemon;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.linux.TrustedPlace;
import io.holdfast.fs.tree.Moment;
import io.holdfast.fs.tree.Tree;
import io.holdfast.fs.tree.TreeImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tree's file in the state directory: what a mount knows of the dataset at its end, the next
 * mount knows from its beginning. A thread of its own writes the file once the dataset has been
 * scanned, after changes, and at the end.
 *
 * <p>Nothing depends on the file: if it cannot be read or written, the log gets one line.
 * Thread-safe.
 */
final class TreeState implements AutoCloseable {
  /** Identifies a dataset. */
  @FunctionalInterface
  interface Dataset {
    /**
     * Returns a text that only this dataset has.
     *
     * @throws FsException if the dataset's origin does not answer
     */
    String identity() throws FsException;
  }

  private static final Logger log = LoggerFactory.getLogger(TreeState.class);

  /** The least time between two writes when the tree changes. */
  private static final Duration PAUSE = Duration.ofMinutes(1);

  /** Writes take at most one part in so many of the time. */
  private static final int SHARE = 20;

  private static final Duration PAUSE_OF_THREAD = Duration.ofSeconds(1);

  private static final Duration CHECK = Duration.ofMillis(200);

  /** How long the end of a mount waits for the file. */
  private static final Duration LAST_WAIT = Duration.ofSeconds(7);

  /** The value of {@link #written} before the first write. */
  private static final long NEVER = -1;

  private static final FileAttribute<?> MODE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private final Path file;
  private final Dataset dataset;
  private final Tree tree;

  /** Ends when there is nothing to write. */
  private final ThreadPoolExecutor thread = writer();

  private final AtomicBoolean writing = new AtomicBoolean();
  private final AtomicBoolean started = new AtomicBoolean();
  private volatile long entriesLoaded;
  private volatile @Nullable String identity;

  /** {@link Tree#changes()} of the tree that is in the file. Handed over to the thread. */
  private volatile long written = NEVER;

  /** When the file may be written again; set by the thread. */
  private volatile long next = System.nanoTime();

  /** Whether the last write failed; only the thread uses it. */
  private boolean failing;

  /**
   * Prepares the state of a tree.
   *
   * @param file the file; its directory may have to be created
   * @param dataset asked only when the identity is needed: the origin may not answer when one
   *     daemon follows another
   */
  TreeState(Path file, Dataset dataset, Tree tree) {
    this.file = file;
    this.dataset = dataset;
    this.tree = tree;
  }

  /**
   * Brings the entries of an earlier mount into the tree, which nobody uses yet.
   *
   * @throws FsException if the origin does not tell its identity, or if others than this user and
   *     root could have written the file
   */
  void load() throws FsException {
    try {
      TrustedPlace.check("the state file", file);
    } catch (IOException e) {
      throw new FsException(FsError.ACCESS_DENIED, e.getMessage(), e);
    }
    long began = System.nanoTime();
    String identity = identity();
    try (TreeImage image = TreeImage.open(file, identity)) {
      tree.loaded(image, Moment.now());
      entriesLoaded = image.entries();
      written = tree.changes();
      log.info(
          "{} entries from {}, of {}, in {} ms; checking them in the background",
          entriesLoaded,
          file,
          Instant.ofEpochMilli(TimeUnit.NANOSECONDS.toMillis(image.written().ofDay())),
          TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began));
    } catch (NoSuchFileException e) {
      log.debug("no state file {}", file);
    } catch (IOException e) {
      log.warn(
          "the state file {} is not used: {}; the dataset is listed afresh", file, e.getMessage());
    }
  }

  private String identity() throws FsException {
    String known = identity;
    if (known == null) {
      known = dataset.identity();
      identity = known;
    }
    return known;
  }

  /** Returns the number of entries that the earlier mount had left. */
  long entriesLoaded() {
    return entriesLoaded;
  }

  private static ThreadPoolExecutor writer() {
    ThreadPoolExecutor writer =
        new ThreadPoolExecutor(
            1,
            1,
            PAUSE_OF_THREAD.toMillis(),
            TimeUnit.MILLISECONDS,
            new LinkedBlockingQueue<>(),
            new NamedThreads("state"));
    writer.allowCoreThreadTimeOut(true);
    return writer;
  }

  /**
   * Starts to write after changes.
   *
   * @param scanned tells whether a scan has seen all of the dataset
   * @param clock runs the looks for changes; stays with the caller
   */
  void start(BooleanSupplier scanned, ScheduledExecutorService clock) {
    started.set(true);
    Future<?> unused =
        clock.scheduleWithFixedDelay(
            () -> {
              if (scanned.getAsBoolean()) {
                beginDue();
              }
            },
            CHECK.toMillis(),
            CHECK.toMillis(),
            TimeUnit.MILLISECONDS);
  }

  private void beginDue() {
    if (System.nanoTime() - next >= 0
        && tree.changes() != written
        && !thread.isShutdown()
        && writing.compareAndSet(false, true)) {
      try {
        thread.execute(this::writeDue);
      } catch (OutOfMemoryError e) {
        writing.set(false);
        OutOfMemory.tell(e);
      }
    }
  }

  private void writeDue() {
    try {
      writeChanges();
    } catch (OutOfMemoryError e) {
      OutOfMemory.tell(e);
    } finally {
      writing.set(false);
    }
  }

  private void writeChanges() {
    long changes = tree.changes();
    if (changes == written) {
      return;
    }
    long began = System.nanoTime();
    try {
      Files.createDirectories(file.toAbsolutePath().getParent(), MODE);
      TrustedPlace.check("the state file", file);
      long bytes = tree.write(file, identity(), Moment.now());
      written = changes;
      failing = false;
      log.info("wrote what is known of {} entries to {}, {} bytes", tree.size() - 1, file, bytes);
    } catch (IOException | RuntimeException e) {
      if (!failing) {
        log.warn(
            "the state file {} cannot be written: {}; the next mount may list the dataset again",
            file,
            e.toString());
      }
      failing = true;
    } finally { // also if there was no memory for it
      long took = System.nanoTime() - began;
      next = System.nanoTime() + Math.max(PAUSE.toNanos(), SHARE * took);
    }
  }

  /** Writes the changes, if that does not take too long, and ends. */
  @Override
  public void close() {
    if (started.get()) {
      thread.execute(this::writeChanges);
    }
    thread.shutdown();
    try {
      if (!thread.awaitTermination(LAST_WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
        log.warn("the state file {} was not written in {}; it stays as it was", file, LAST_WAIT);
        thread.shutdownNow();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
