package io.holdfast.fs.transit;

import io.holdfast.fs.linux.NativeMemory;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Native memory with a bound. Thread-safe. The lock guards the count of used bytes alone and is
 * held for no call of another class.
 */
final class TransitMemory {
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
    long address = NativeMemory.allocate(length);
    if (address == 0) {
      giveBack(length);
    }
    return address;
  }

  void release(long address, long length) {
    NativeMemory.free(address, length);
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
