package io.holdfast.fs.residency;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FsException;
import io.holdfast.fs.PageStore;
import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.transit.Fetched;
import io.holdfast.fs.transit.Item;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pins admitted items through the own mount: brings their pages into memory, maps them, and locks
 * them for a hard pin. Thread-safe. Only isolated threads touch the own mount, and no method waits
 * for them.
 */
final class Pinning {
  private static final Logger log = LoggerFactory.getLogger(Pinning.class);
  private static final int REHOME_ATTEMPTS = 4;

  /**
   * How long a reader has to copy its answer before the daemon drops the pages. The kernel wakes
   * the reader, which then waits for a processor: some milliseconds on a busy machine. If the pages
   * are gone by then, the reader asks again.
   */
  private static final long COPY_NANOS = 20_000_000;

  /** Bytes that are given to the kernel at once. */
  private static final int PIECE = 1 << 20;

  /** The part of the available memory that may be behind: the kernel is in no need of its pages. */
  private static final int PART_BEHIND = 4;

  /** For each item that is behind: it takes some 500 bytes, so all take a 32nd of the heap. */
  private static final int HEAP_BEHIND = 16 << 10;

  private final OwnMount mount;
  private final PageStore pages;

  /**
   * The queue of items to pin is bounded by transit memory, which holds the items' bytes, and by
   * what may be behind.
   */
  private final IsolatedThreads pinners;

  private final boolean hard;
  private final Consumer<Resident> unpinned;

  /** Items that are behind, and whether a thread is pinning them. */
  private final ConcurrentLinkedQueue<Arrived> behind = new ConcurrentLinkedQueue<>();

  private final AtomicBoolean pinsBehind = new AtomicBoolean();

  private final AtomicLong behindBytes = new AtomicLong();
  private final AtomicInteger behindItems = new AtomicInteger();
  private final long mostItemsBehind = Runtime.getRuntime().maxMemory() / HEAP_BEHIND;
  private volatile long mostBehind;
  private final AtomicLong failures = new AtomicLong();
  private final AtomicInteger lastErrno = new AtomicInteger();
  private volatile boolean closed;

  /**
   * Creates a pinning with nothing pinned.
   *
   * @param hard whether to lock the pages, rather than only map them
   * @param unpinned takes, on any thread, an item that could not be pinned or was released
   *     meanwhile; some of its pages may be in the page cache
   */
  Pinning(
      OwnMount mount,
      PageStore pages,
      IsolatedThreads pinners,
      boolean hard,
      Consumer<Resident> unpinned) {
    this.mount = mount;
    this.pages = pages;
    this.pinners = pinners;
    this.hard = hard;
    this.unpinned = unpinned;
  }

  /**
   * Begins to pin an item that has arrived. {@link Fetched#done()} is called when pinning has
   * ended.
   *
   * <p>If programs have been given the whole item, the kernel has all of its pages, and the item
   * {@linkplain Fetched#giveWay() gives way} in transit. The pins of such items come behind the
   * readers: while these keep the processors busy, the pages are cached and not locked yet. If the
   * kernel takes some, the pin has them read again.
   *
   * @return false where nothing is pinned any more
   */
  boolean begin(Resident resident, Fetched fetched) {
    return new Arrived(resident, fetched).begin();
  }

  /**
   * Learns how much memory is available: it bounds what may be {@linkplain #backlogBytes behind}.
   */
  void available(long bytes) {
    mostBehind = bytes / PART_BEHIND;
  }

  /**
   * Returns the bytes of residents that a program has read whole and whose pins are still to come.
   */
  long backlogBytes() {
    return behindBytes.get();
  }

  /** Adds an item to those whose pins may come later; returns false if there is no room for it. */
  private boolean mayBeBehind(int length) {
    int items = behindItems.incrementAndGet();
    long bytes = behindBytes.addAndGet(length);
    if (items <= mostItemsBehind && bytes <= mostBehind) {
      return true;
    }
    noLongerBehind(length);
    return false;
  }

  /**
   * Has an item pinned after those that are behind already. One thread pins all of them: two would
   * wait for each other at the lock of the address space, at every item.
   *
   * @return false where nothing is pinned any more
   */
  private boolean addBehind(Arrived item) {
    behind.add(item);
    if (!pinsBehind.compareAndSet(false, true)) {
      return true;
    }
    boolean begun = false;
    try {
      begun = execute(this::pinBehind);
    } finally {
      if (!begun) {
        behind.remove(item); // nobody has taken it: no thread pins these items
        pinsBehind.set(false);
      }
    }
    return begun;
  }

  private void pinBehind() {
    do {
      for (Arrived next = behind.poll(); next != null; next = closed ? null : behind.poll()) {
        try {
          next.pinBehind();
        } catch (Throwable e) { // the items behind this one are pinned all the same
          pinners.failed(e);
        }
      }
      pinsBehind.set(false);
    } while (!closed && !behind.isEmpty() && pinsBehind.compareAndSet(false, true));
  }

  private void noLongerBehind(int length) {
    behindBytes.addAndGet(-length);
    behindItems.decrementAndGet();
  }

  /** Begins to pin an item that an earlier daemon had pinned. */
  boolean beginAgain(Resident resident) {
    byte[] path = resident.item().path().get().bytes();
    return execute(() -> pinAgain(resident, path));
  }

  private boolean execute(Runnable task) {
    try {
      pinners.execute(task);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  private void pinAgain(Resident resident, byte[] path) {
    pinAt(resident, () -> mount.pinCached(resident.item(), path, hard));
  }

  /**
   * Runs on an isolated thread: no logging here. Passes an item that could not be pinned to {@link
   * #unpinned}, which drops the item's pages.
   */
  private void pinAt(Resident resident, LongSupplier mapping) {
    boolean pinned = false;
    try {
      if (!closed && !resident.isReleased()) {
        long address = mapping.getAsLong();
        pinned = address >= 0 && resident.pinned(address);
        if (address >= 0 && !pinned) {
          OwnMount.unmap(address, resident.item().length());
        }
      }
    } finally {
      if (!pinned) {
        unpinned.accept(resident);
      }
    }
  }

  /**
   * An item whose bytes have arrived and that is being pinned. Three steps: drop the pages that a
   * reader from another memory cgroup has brought in, give the missing pages to the kernel from
   * transit memory, and map the item. Each step is a task of its own, and no thread waits for the
   * next step.
   */
  private final class Arrived implements PageStore.Source {
    private final Resident resident;
    private final Item item;
    private final byte[] path;
    private final Fetched fetched;
    private final long arrived = System.nanoTime();

    /** How many reads from another memory cgroup have had their pages dropped. */
    private int settledReads;

    private boolean lookedUp;

    /** Offset of the first byte that was given to the kernel; the bytes behind it were, too. */
    private int stored;

    /** Address of the bytes while they are being given to the kernel. */
    private long memory;

    Arrived(Resident resident, Fetched fetched) {
      this.resident = resident;
      this.item = resident.item();
      this.path = item.path().get().bytes();
      this.fetched = fetched;
    }

    boolean begin() {
      if (fetched.readsFromElsewhere() > 0) {
        return execute(this::rehome);
      }
      if (fetched.firstUndelivered() == item.length() && mayBeBehind(item.length())) {
        return beginBehind();
      }
      return store() || execute(this::pin);
    }

    private boolean beginBehind() {
      boolean begun = false;
      try {
        begun = addBehind(this);
      } finally {
        if (!begun) {
          noLongerBehind(item.length());
        }
      }
      if (begun) {
        fetched.giveWay();
      }
      return begun;
    }

    private void pinBehind() {
      try {
        pin();
      } finally {
        noLongerBehind(item.length());
      }
    }

    private void rehome() {
      storeAfter(
          () -> {
            awaitCopy();
            int reads = fetched.readsFromElsewhere();
            mount.clear(path, item);
            settledReads = reads;
          });
    }

    /** Items come in the order of their arrival: the next ones wait meanwhile, too. */
    private void awaitCopy() {
      long left = arrived + COPY_NANOS - System.nanoTime();
      while (left > 0 && !isPointless()) {
        LockSupport.parkNanos(left);
        left = arrived + COPY_NANOS - System.nanoTime();
      }
    }

    private void lookUp() {
      lookedUp = true;
      storeAfter(() -> mount.lookUp(path));
    }

    /**
     * Runs a step and then gives the kernel the missing pages. The item is pinned even if the step
     * fails.
     */
    private void storeAfter(Runnable first) {
      boolean stores = false;
      try {
        if (!isPointless()) {
          first.run();
          stores = store();
        }
      } finally {
        if (!stores) {
          pinLater();
        }
      }
    }

    private boolean store() {
      stored = item.length();
      return firstMissing() < stored && !isPointless() && pages.store(item.node(), this);
    }

    /**
     * Returns the next piece, from the end to the beginning: a reader on its way through the item
     * comes from the other side, and the two meet.
     */
    @Override
    public PageStore.@Nullable Piece next() {
      int first = firstMissing();
      if (stored <= first || isPointless() || fetched.isOutdated()) {
        return null;
      }
      if (memory == 0) {
        memory = fetched.hold();
      }
      if (memory == 0) {
        return null;
      }
      int from = Math.max(first, (stored - 1) / PIECE * PIECE);
      int length = stored - from;
      stored = from;
      try {
        CheckedBytes bytes = CheckedBytes.of(item, from, length, fetched.item(), memory);
        return new PageStore.Piece(item.offset() + from, bytes);
      } catch (FsException e) {
        return null; // and pinned without this piece
      }
    }

    /** Returns the first byte that the kernel lacks: a dropped item lacks all of its bytes. */
    private int firstMissing() {
      int first = settledReads > 0 ? 0 : fetched.firstUndelivered();
      return first == item.length() ? first : first - first % Linux.PAGE_SIZE;
    }

    /** Looks the file up and stores again, once, if the kernel did not know the file. */
    @Override
    public void over(boolean known) {
      boolean goesOn = false;
      try {
        if (memory != 0) {
          memory = 0;
          fetched.release();
        }
        goesOn = !known && !lookedUp && execute(this::lookUp);
      } finally {
        if (!goesOn) {
          pinLater();
        }
      }
    }

    /**
     * Pins on an isolated thread, or, after the threads have ended, right here, where nothing is
     * mapped any more.
     */
    private void pinLater() {
      boolean later;
      try {
        later = execute(this::pin);
      } catch (OutOfMemoryError e) {
        giveUp(); // not pinned here: this thread may have /dev/fuse
        throw e;
      }
      if (!later) {
        pin();
      }
    }

    private void giveUp() {
      try {
        unpinned.accept(resident);
      } finally {
        fetched.done();
      }
    }

    private boolean isPointless() {
      return closed || resident.isReleased();
    }

    private void pin() {
      try {
        pinAt(resident, this::map);
      } finally {
        fetched.done();
      }
    }

    /**
     * Maps the item. A reader on its way through the item may bring pages in again between the drop
     * and the lock; then both are repeated.
     */
    private long map() {
      for (int attempt = 1; ; attempt++) {
        int reads = fetched.readsFromElsewhere();
        long address = mount.pin(item, path, reads > settledReads, hard);
        if (address < 0) {
          failures.incrementAndGet();
          lastErrno.set((int) -address);
          return address;
        }
        if (fetched.readsFromElsewhere() == reads || attempt == REHOME_ATTEMPTS) {
          return address;
        }
        OwnMount.unmap(address, item.length());
      }
    }
  }

  boolean isHard() {
    return hard;
  }

  /** Returns how many items could not be pinned since the mount. */
  long failures() {
    return failures.get();
  }

  /** Logs a failure of the isolated threads, which cannot log. */
  void tick() {
    int errno = lastErrno.getAndSet(0);
    if (errno > 0) {
      log.warn("an item could not be pinned: {}; {} so far", Linux.describe(errno), failures);
    }
  }

  /** Stops pinning. */
  void close() {
    closed = true;
    pinners.close();
  }
}
