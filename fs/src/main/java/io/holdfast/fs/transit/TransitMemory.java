package io.holdfast.fs.transit;

import static io.holdfast.fs.linux.Libc.LIBC;
import static io.holdfast.fs.linux.Linux.PAGE_SIZE;

import io.holdfast.fs.linux.Memory;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Native memory with a bound. Thread-safe. The lock guards the count of used bytes alone and is
 * held for no call of another class.
 */
final class TransitMemory {
  /** A store that copies straight to where it is told to wants whole pages for large reads. */
  private static final long LARGE = 128 << 10;

  private final long capacity;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition freed = lock.newCondition();
  private long used;

  TransitMemory(long capacity) {
    this.capacity = capacity;
  }

  /**
   * Takes memory, and waits for it where all is in use.
   *
   * @param nanos how long to wait at most; 0 for not at all
   * @return its address, or 0 where there was none in time
   */
  long acquire(long length, long nanos) {
    long left = nanos;
    lock.lock();
    try {
      while (used + length > capacity) {
        if (left <= 0) {
          return 0;
        }
        left = freed.awaitNanos(left);
      }
      used += length;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 0;
    } finally {
      lock.unlock();
    }
    long address = length < LARGE ? LIBC.malloc(length) : wholePages(length);
    if (address == 0) {
      giveBack(length);
    }
    return address;
  }

  /**
   * What malloc gave begins up to a page before, which stands right before the address. Not
   * aligned_alloc: glibc does not find what was freed before for the next of the same length, and
   * takes new memory each time, several times what is in use.
   */
  private static long wholePages(long length) {
    long given = LIBC.malloc(length + PAGE_SIZE + Long.BYTES);
    if (given == 0) {
      return 0;
    }
    long address = (given + Long.BYTES + PAGE_SIZE - 1) / PAGE_SIZE * PAGE_SIZE;
    Memory.putLong(address - Long.BYTES, given);
    return address;
  }

  void release(long address, long length) {
    LIBC.free(length < LARGE ? address : Memory.getLong(address - Long.BYTES));
    giveBack(length);
  }

  private void giveBack(long length) {
    lock.lock();
    try {
      used -= length;
      freed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  long used() {
    lock.lock();
    try {
      return used;
    } finally {
      lock.unlock();
    }
  }

  long capacity() {
    return capacity;
  }
}
