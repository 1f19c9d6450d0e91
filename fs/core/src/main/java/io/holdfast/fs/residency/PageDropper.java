package io.holdfast.fs.residency;

import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.transit.Item;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drops pages that are in the page cache but not resident. The {@link Window} counts these pages
 * and tells when to drop them; this class drops them through the own mount. Thread-safe. Only
 * isolated threads touch the own mount. Only {@link #awaitRoom()} and {@link #dropStray} wait, for
 * a bounded time.
 */
final class PageDropper {
  private static final Logger log = LoggerFactory.getLogger(PageDropper.class);
  private static final int LONGEST_DROP_SECONDS = 10;

  /**
   * Pause of the thread after it has dropped all pages that were queued. Readers of small files
   * queue an item every few hundred microseconds, and waking a thread for each costs a tenth of the
   * reader's work.
   */
  private static final long REST_NANOS = Duration.ofMillis(2).toNanos();

  /** An entry to drop and its path: the isolated threads must not ask the tree for a path. */
  private record Leaving(Window.Entry entry, OriginPath path) {
    static Leaving of(Window.Entry entry) {
      return new Leaving(entry, entry.item().path().get());
    }
  }

  private final Window window;
  private final OwnMount mount;
  private final IsolatedThreads droppers;
  private final Predicate<Item> isResident;
  private final Queue<Leaving> leaving = new ConcurrentLinkedQueue<>();

  /** Whether a thread is dropping the queued entries, or about to. */
  private final AtomicBoolean dropping = new AtomicBoolean();

  /**
   * Creates a dropper with nothing to drop.
   *
   * @param isResident tells whether an item has been admitted since its pages were read
   */
  PageDropper(Window window, OwnMount mount, IsolatedThreads droppers, Predicate<Item> isResident) {
    this.window = window;
    this.mount = mount;
    this.droppers = droppers;
    this.isResident = isResident;
  }

  /** Records that bytes of a non-resident item are in the page cache now. */
  void delivered(Item item, int bytes, boolean complete) {
    window.delivered(item, bytes, complete).forEach(this::drop);
  }

  /** Records that the pages of an item, if it is in the window, have found their reader. */
  void read(Item item) {
    window.read(item).forEach(this::drop);
  }

  /** Records that a whole item is in the page cache and no longer resident. */
  void deliveredWhole(Item item) {
    delivered(item, item.length(), true);
  }

  /** Drops the pages of an item that is no longer resident at once. */
  void leave(Item item) {
    drop(window.leaving(item, item.length()));
  }

  /**
   * Drops pages of an item that were never recorded. Waits for the drop, for a bounded time: a
   * caller may have many such items, too many to queue.
   */
  void dropStray(Item item) {
    CountDownLatch done = new CountDownLatch(1);
    // not through the queue, which would add a pause after each
    Leaving stray = Leaving.of(window.leaving(item, 0));
    try {
      droppers.execute(
          () -> {
            dropNow(stray);
            done.countDown();
          });
      if (!done.await(LONGEST_DROP_SECONDS, TimeUnit.SECONDS)) {
        log.debug("{} is not dropped yet", item);
      }
    } catch (RejectedExecutionException e) {
      window.dropped(stray.entry, true);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Waits while more non-resident pages are cached than the window allows. For a thread that is
   * about to bring in more pages, or to release more.
   */
  void awaitRoom() {
    window.awaitRoom();
  }

  /** Forgets a file whose version has changed: the kernel dropped its pages with its entry. */
  void forget(long node) {
    window.forget(node);
  }

  /** Drops the pages whose time in the window is over. */
  void tick() {
    window.aged().forEach(this::drop);
  }

  /** Tells whether all of an item is in the page cache, to be dropped later. */
  boolean has(Item item) {
    return window.has(item);
  }

  long bytes() {
    return window.bytes();
  }

  long droppedBytes() {
    return window.droppedBytes();
  }

  /** Stops dropping. */
  void close() {
    droppers.close();
    leaving.clear();
  }

  private void drop(Window.Entry entry) {
    leaving.add(Leaving.of(entry));
    dropSoon();
  }

  private void dropSoon() {
    if (dropping.getAndSet(true)) {
      return;
    }
    try {
      droppers.execute(this::dropLeaving);
    } catch (RejectedExecutionException e) {
      for (Leaving each = leaving.poll(); each != null; each = leaving.poll()) {
        window.dropped(each.entry, true);
      }
      dropping.set(false);
    } catch (OutOfMemoryError e) {
      dropping.set(false); // or nothing would be dropped any more
      throw e;
    }
  }

  /** Runs on an isolated thread: no logging here. */
  private void dropLeaving() {
    try {
      for (Leaving each = leaving.poll(); each != null; each = leaving.poll()) {
        dropNow(each);
      }
      LockSupport.parkNanos(REST_NANOS);
    } finally {
      dropping.set(false);
      if (!leaving.isEmpty()) {
        dropSoon();
      }
    }
  }

  /**
   * Runs on an isolated thread: no logging here. Pages of an item that was admitted meanwhile stay,
   * and count as resident.
   */
  private void dropNow(Leaving each) {
    Window.Entry entry = each.entry;
    Item item = entry.item();
    boolean gone = false;
    try {
      // a negative answer says that the file is gone, and its pages with it
      gone =
          isResident.test(item)
              || mount.drop(each.path.bytes(), item) <= 0
              || isResident.test(item);
    } finally {
      window.dropped(entry, gone);
    }
  }
}
