package io.holdfast.fs.checkpoint;

import io.holdfast.fs.checkpoint.PendingOperations.Pending;
import java.time.Duration;
import java.util.TreeMap;

/**
 * Applies operations one after the other. At most one thing in the store is not durable at any
 * time: a row of writes to one file that do not overlap, which can be written again. Before
 * anything else changes, that file is synced; and each other operation is synced before the next.
 *
 * <p>Of an operation that was about to be applied when this process was killed, the {@link Cursor}
 * has the number and a witness, by which one sees whether the store has it.
 */
final class InPlaceTaking implements Taking {
  /** The most bytes that are not durable: so much is written again after a crash. */
  private static final long LARGEST_WINDOW = 64L << 20;

  /** How long it grows, so that a slow store shows progress. */
  private static final long LONGEST_WINDOW = Duration.ofSeconds(2).toNanos();

  private static final long CALM = Duration.ofMillis(50).toNanos();

  private final Front front;
  private final InPlaceStore store;
  private final Persister persister;
  private final long buffer;

  /** The ranges of the window, by their beginning. */
  private final TreeMap<Long, Long> window = new TreeMap<>();

  /** The number of the last operation that a crash of the machine leaves in the log. */
  private long synced;

  private String windowPath = "";
  private long windowBytes;
  private long windowTime;
  private long windowBegan;

  /** Creates one; the buffer has room for the longest write. */
  InPlaceTaking(Front front, InPlaceStore store, Persister persister, long buffer) {
    this.front = front;
    this.store = store;
    this.persister = persister;
    this.buffer = buffer;
  }

  @Override
  public boolean isEmpty() {
    return window.isEmpty();
  }

  @Override
  public long calm() {
    return CALM;
  }

  @Override
  public boolean isFull(long waited) {
    return false; // what comes next decides
  }

  @Override
  public void take(Pending next) throws ErrnoException {
    if (next.operation() instanceof Operation.Write write) {
      write(next, write);
    } else {
      apply(next);
    }
  }

  private void write(Pending next, Operation.Write write) throws ErrnoException {
    if (!fitsWindow(write)) {
      makeDurable();
    }
    front.promise(next.sequence()); // the store is about to have it
    front.read(next, buffer);
    long begin = System.nanoTime();
    if (window.isEmpty()) {
      windowBegan = begin;
      store.checkOwner();
    }
    syncLog(next);
    store.write(write.path(), buffer, write.length(), write.offset());
    window.put(write.offset(), write.end());
    windowPath = write.path();
    windowBytes += write.length();
    windowTime = next.entry.time();
    front.taken(next);
    persister.throttle(begin, write.length());
  }

  /** The store must not have what the log may lose with the machine. */
  private void syncLog(Pending next) throws ErrnoException {
    if (next.sequence() > synced || front.hasSaved(next)) {
      synced = front.syncLog();
    }
  }

  private boolean fitsWindow(Operation.Write write) {
    if (window.isEmpty()) {
      return true;
    }
    var before = window.lowerEntry(write.end());
    boolean overlaps = before != null && before.getValue() > write.offset();
    return windowPath.equals(write.path())
        && !overlaps
        && System.nanoTime() - windowBegan < LONGEST_WINDOW
        && windowBytes + write.length() <= LARGEST_WINDOW;
  }

  private void apply(Pending next) throws ErrnoException {
    makeDurable();
    Operation operation = next.operation();
    Cursor cursor = front.cursor();
    boolean done =
        cursor.begun() == next.sequence()
            && !operation.isRepeatable()
            && store.isApplied(operation, cursor.witness());
    if (!done) {
      store.checkOwner();
      syncLog(next);
      cursor.begin(next.sequence(), store.witness(operation));
      store.apply(operation);
    }
    front.taken(next);
    persister.madeDurable();
    persister.renameUnits(operation);
  }

  @Override
  public void makeDurable() throws ErrnoException {
    if (window.isEmpty()) {
      return;
    }
    store.sync(windowTime);
    long end = window.lastEntry().getValue();
    persister.persisted(windowBytes, System.nanoTime() - windowBegan);
    forget();
    persister.madeDurable();
    persister.written(windowPath, end);
    persister.keepUnits();
  }

  @Override
  public void forget() {
    window.clear(); // after a failed sync it is not known what the store has: it is written again
    windowBytes = 0;
  }
}
