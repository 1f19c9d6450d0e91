package io.holdfast.fs.origin.s3;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Memory;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A piece of a file that another thread fetches to memory of its own, while the reader is busy with
 * earlier pieces. Any thread calls {@link #run()}, once; only the reader calls the other methods.
 * The lock guards the fields below it. The thread that ends last frees the memory.
 */
final class Prefetch implements Runnable {
  private final RangeReader.Source source;
  private final long first;
  private final long end;
  private final long address;
  private final Runnable freed;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition change = lock.newCondition();
  private int filled;
  private boolean ended;
  private boolean closed;
  private @Nullable FsException failure;

  /**
   * Creates a prefetch that has not begun.
   *
   * @param address memory for the piece, from malloc; freed in the end
   * @param freed runs after the memory has been freed
   */
  Prefetch(RangeReader.Source source, long first, long end, long address, Runnable freed) {
    this.source = source;
    this.first = first;
    this.end = end;
    this.address = address;
    this.freed = freed;
  }

  long end() {
    return end;
  }

  boolean covers(long position) {
    return position >= first && position < end;
  }

  @Override
  public void run() {
    long until = System.nanoTime() + source.deadline().toNanos();
    boolean whole = false;
    FsException failed = null;
    try (RangeReader reader = new RangeReader(source, first, end)) {
      int done = 0;
      while (done < end - first && wanted(done)) {
        done += reader.read(address + done, (int) (end - first) - done, until);
      }
      whole = done == end - first;
    } catch (FsException e) {
      failed = e;
    } finally {
      end(whole, failed);
    }
  }

  private boolean wanted(int done) {
    lock.lock();
    try {
      filled = done;
      change.signalAll();
      return !closed;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends the filling of the piece.
   *
   * @param failed why it is not whole; null where it is, or was given up
   */
  private void end(boolean whole, @Nullable FsException failed) {
    boolean last;
    lock.lock();
    try {
      if (whole) {
        filled = (int) (end - first);
      }
      failure = failed;
      ended = true;
      last = closed;
      change.signalAll();
    } finally {
      lock.unlock();
    }
    if (last) {
      free();
    }
  }

  /**
   * Copies the bytes of a range that have arrived; waits for the first one.
   *
   * @param until when to give up, on the clock of nanoseconds
   * @return bytes copied, at least one
   */
  int read(long position, long to, int length, long until) throws FsException {
    int from = (int) (position - first);
    int there = await(from, until);
    int count = Math.min(length, there - from);
    Memory.copy(address + from, to, count);
    return count;
  }

  private int await(int from, long until) throws FsException {
    lock.lock();
    try {
      while (filled <= from) {
        if (ended) {
          throw failure != null
              ? failure
              : new FsException(FsError.IO, source.what() + ": given up");
        }
        long left = until - System.nanoTime();
        if (left <= 0) {
          throw new FsException(
              FsError.TIMED_OUT, source.what() + ": the store did not send it in time");
        }
        change.awaitNanos(left);
      }
      return filled;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new FsException(FsError.IO, source.what() + ": interrupted", e);
    } finally {
      lock.unlock();
    }
  }

  /** Ends the reader's use of the piece. */
  void close() {
    boolean last;
    lock.lock();
    try {
      last = ended && !closed;
      closed = true;
    } finally {
      lock.unlock();
    }
    if (last) {
      free();
    }
  }

  /** Frees a piece for which no thread could be started. */
  void drop() {
    end(false, null);
    close();
  }

  private void free() {
    LIBC.free(address);
    freed.run();
  }
}
