package io.holdfast.fs.residency;

import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.transit.Item;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
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

  private final Window window;
  private final OwnMount mount;
  private final IsolatedThreads droppers;
  private final Predicate<Item> isResident;

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
    drop(window.leaving(item, 0), done::countDown);
    try {
      if (!done.await(LONGEST_DROP_SECONDS, TimeUnit.SECONDS)) {
        log.debug("{} is not dropped yet", item);
      }
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
  }

  private void drop(Window.Entry entry) {
    drop(entry, () -> {});
  }

  private void drop(Window.Entry entry, Runnable over) {
    byte[] path = entry.item().path().get().bytes();
    try {
      droppers.execute(
          () -> {
            dropNow(entry, path);
            over.run();
          });
    } catch (RejectedExecutionException e) {
      window.dropped(entry, true);
      over.run();
    }
  }

  /**
   * Runs on an isolated thread: no logging here. What was admitted meanwhile lingers no more: its
   * pages stay, and are counted as resident.
   */
  private void dropNow(Window.Entry entry, byte[] path) {
    Item item = entry.item();
    // a negative answer says that the file is gone, and its pages with it
    boolean gone = isResident.test(item) || mount.drop(path, item) <= 0 || isResident.test(item);
    window.dropped(entry, gone);
  }
}
