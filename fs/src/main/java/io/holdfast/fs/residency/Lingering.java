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
 * What is in the page cache and not resident: counts it in the {@link Window}, and drops it through
 * the own mount when its time is over. Thread-safe; what touches the own mount runs on isolated
 * threads, and only {@link #awaitRoom()} and {@link #dropStray} wait, for a bounded time.
 */
final class Lingering {
  private static final Logger log = LoggerFactory.getLogger(Lingering.class);
  private static final int LONGEST_DROP_SECONDS = 10;

  /**
   * Readers of small files leave one every few hundred microseconds, and to wake a thread for each
   * costs a tenth of what it is woken for: having dropped what there was, it rests and looks again.
   */
  private static final long REST_NANOS = Duration.ofMillis(2).toNanos();

  /** What is to be dropped, and where it is: the isolated threads ask no one for a path. */
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

  /** A thread is on its way through what is leaving, or about to be. */
  private final AtomicBoolean dropping = new AtomicBoolean();

  /**
   * Nothing lingers yet.
   *
   * @param isResident tells of an item that has been admitted since it began to linger
   */
  Lingering(Window window, OwnMount mount, IsolatedThreads droppers, Predicate<Item> isResident) {
    this.window = window;
    this.mount = mount;
    this.droppers = droppers;
    this.isResident = isResident;
  }

  /** Takes note that bytes of an item that is not resident are in the page cache now. */
  void delivered(Item item, int bytes, boolean complete) {
    window.delivered(item, bytes, complete).forEach(this::drop);
  }

  /** Takes note that all of an item is, and is no longer resident. */
  void deliveredWhole(Item item) {
    delivered(item, item.length(), true);
  }

  /** Has the pages of an item that is no longer resident go at once. */
  void leave(Item item) {
    drop(window.leaving(item, item.length()));
  }

  /**
   * Has pages of an item go of which nobody took note. Waits for it, for a bounded time: there may
   * be many of them, which are not all to be queued.
   */
  void dropStray(Item item) {
    CountDownLatch done = new CountDownLatch(1);
    // not with the others: a rest would follow each
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
   * Waits while more lingers than may: for a thread that is about to bring in more, or to let go of
   * more.
   */
  void awaitRoom() {
    window.awaitRoom();
  }

  /** Forgets a file whose version has changed: its pages went with the kernel's entry. */
  void forget(long node) {
    window.forget(node);
  }

  /** Drops what has lingered for long enough. */
  void tick() {
    window.aged().forEach(this::drop);
  }

  long bytes() {
    return window.bytes();
  }

  long droppedBytes() {
    return window.droppedBytes();
  }

  /** Drops nothing any more. */
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
   * Runs on an isolated thread: no logging here. What was admitted meanwhile lingers no more: its
   * pages stay, and are counted as resident.
   */
  private void dropNow(Leaving each) {
    Window.Entry entry = each.entry;
    Item item = entry.item();
    // a negative answer says that the file is gone, and its pages with it
    boolean gone =
        isResident.test(item) || mount.drop(each.path.bytes(), item) <= 0 || isResident.test(item);
    window.dropped(entry, gone);
  }
}
