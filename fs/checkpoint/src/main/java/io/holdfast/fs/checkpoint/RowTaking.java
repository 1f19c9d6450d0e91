package io.holdfast.fs.checkpoint;

import io.holdfast.fs.checkpoint.PendingOperations.Pending;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import jnr.constants.platform.Errno;
import org.jspecify.annotations.Nullable;

/**
 * Takes operations in rows: one is durable as a whole. A row ends when nothing was pending for a
 * while, when somebody waits for an operation in it, or when it is large or old. So a directory
 * that is renamed soon after it was written costs nothing.
 *
 * <p>Before a row is committed, the {@link Cursor} has its last operation and its number. If the
 * attempt fails, or this process is killed, the next attempt asks the store whether it has the row;
 * if not, it never will, and its operations go into other rows.
 */
final class RowTaking implements Taking {
  private static final long CALM = Duration.ofSeconds(1).toNanos();

  /** How long a row grows while programs write without a pause. */
  private static final long LONGEST_ROW = Duration.ofMinutes(2).toNanos();

  private static final int MOST_OPERATIONS = 100_000;

  /** The part of the front that a row may fill: the rest is for what programs write meanwhile. */
  private static final long PART_OF_FRONT = 4;

  private static final SecureRandom random = new SecureRandom();

  private final Front front;
  private final RowStore store;
  private final Persister persister;
  private final long buffer;
  private final List<Operation> operations = new ArrayList<>();
  private long row;

  private long last;
  private long bytes;
  private long began;

  /** Creates one; the buffer has room for the longest write. */
  RowTaking(Front front, RowStore store, Persister persister, long buffer) {
    this.front = front;
    this.store = store;
    this.persister = persister;
    this.buffer = buffer;
  }

  @Override
  public boolean isEmpty() {
    return operations.isEmpty();
  }

  @Override
  public long calm() {
    return CALM;
  }

  @Override
  public boolean isFull(long waited) {
    if (isEmpty()) {
      return false;
    }
    return waited <= last
        || operations.size() >= MOST_OPERATIONS
        || bytes + store.fetched() >= front.usage().capacity() / PART_OF_FRONT
        || System.nanoTime() - began >= LONGEST_ROW;
  }

  @Override
  public void take(Pending next) throws ErrnoException {
    if (isEmpty() && !begin()) {
      return;
    }
    long start = System.nanoTime();
    try {
      bring(next);
    } catch (ErrnoException e) {
      if (isEmpty() || !leavesRowAsItWas(next.operation(), e)) {
        throw e;
      }
      makeDurable(); // what came before is not to wait for the one that fails
      return;
    }
    operations.add(next.operation());
    last = next.sequence();
    front.taken(next);
    if (next.operation() instanceof Operation.Write write) {
      bytes += write.length();
      persister.throttle(start, write.length());
    }
  }

  /**
   * Tells whether the row does not have an operation that failed, or may have a part of a write. An
   * operation on names may have changed some of them.
   */
  private static boolean leavesRowAsItWas(Operation operation, ErrnoException failure) {
    return operation.isRepeatable() || failure.is(Errno.ENOSPC);
  }

  private void bring(Pending next) throws ErrnoException {
    if (next.operation() instanceof Operation.Write write) {
      front.read(next, buffer);
      store.write(write, buffer, next.sequence(), next.entry.time());
    } else {
      store.apply(next.operation(), next.sequence(), next.entry.time());
    }
  }

  /** Begins a row, or finds that the store has the one that was begun: returns false then. */
  private boolean begin() throws ErrnoException {
    store.begin();
    began = System.nanoTime();
    Cursor cursor = front.cursor();
    if (cursor.begun() > front.durable() && store.isCommitted(cursor.witness())) {
      takeUntil(cursor.begun());
      return false;
    }
    row = random.nextLong();
    store.checkOwner();
    return true;
  }

  private void takeUntil(long committed) throws ErrnoException {
    @Nullable Pending next = front.nextNow();
    while (next != null && next.sequence() <= committed) {
      front.taken(next);
      next = front.nextNow();
    }
    persister.madeDurable();
  }

  @Override
  public void makeDurable() throws ErrnoException {
    if (!isEmpty()) {
      long unused = front.syncLog(); // the store must not have what the log may lose
      front.cursor().begin(last, row);
      store.commit(row);
      if (bytes > 0) {
        persister.persisted(bytes, System.nanoTime() - began);
      }
      List<Operation> done = List.copyOf(operations);
      forget();
      persister.madeDurable();
      done.forEach(this::noteUnit);
      persister.keepUnits();
    }
    store.settle();
  }

  private void noteUnit(Operation operation) {
    if (operation instanceof Operation.Write write) {
      persister.written(write.path(), write.end());
    } else {
      persister.renameUnits(operation);
    }
  }

  @Override
  public void forget() {
    operations.clear();
    bytes = 0;
  }
}
