package io.holdfast.fs.transit;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.linux.NativeMemory;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Native memory with a bound. No thread waits: a fetch that finds no memory gets it later through a
 * {@link Taker}. Thread-safe; the monitor guards the used bytes and the queue, and is a leaf lock.
 *
 * <p>Where the heap is full, a byte that is counted is in a buffer, and a waiter stays in the queue
 * until there is an answer for it; {@link #expire} serves those whose turn was broken off.
 */
final class TransitMemory {
  private final long capacity;

  /** In the order of arrival. No deque: that of the JDK loses its elements if it cannot grow. */
  private final List<Waiter> waiters = new ArrayList<>();

  private long used;

  private record Waiter(int length, long deadline, Taker taker) {}

  /** A waiter's answer, which was made before the waiter left the queue. */
  private record Answer(Waiter waiter, @Nullable Buffer buffer, @Nullable FsException cause) {
    void tell() {
      try {
        waiter.taker.take(buffer, cause);
      } catch (OutOfMemoryError e) {
        OutOfMemory.tell(e); // the next waiter needs its own answer
      }
    }
  }

  /** Takes the answer to a wait for memory. */
  @FunctionalInterface
  interface Taker {
    /**
     * Takes the answer; called once.
     *
     * @param buffer belongs to the taker from now on, also where the taker fails; null if there is
     *     none
     * @param cause why there is none; null if there is one
     */
    void take(@Nullable Buffer buffer, @Nullable FsException cause);
  }

  /**
   * Bytes that belong to this buffer until it is freed.
   *
   * @param address address of the first byte
   * @param length number of bytes
   */
  record Buffer(TransitMemory memory, long address, int length) {
    /** Frees the bytes. Called once. */
    void free() {
      NativeMemory.free(address, length);
      memory.giveBack(length);
    }
  }

  TransitMemory(long capacity) {
    this.capacity = capacity;
  }

  /** Allocates memory; returns null where none is free now. */
  @Nullable Buffer take(int length) {
    return reserve(length) ? allocate(length) : null;
  }

  private synchronized boolean reserve(int length) {
    boolean fits = used + length <= capacity;
    if (fits) {
      used += length;
    }
    return fits;
  }

  /** Allocates reserved memory; where it fails, the bytes are no longer reserved. */
  private @Nullable Buffer allocate(int length) {
    long address = 0;
    Buffer buffer = null;
    try {
      address = NativeMemory.allocate(length);
      if (address == 0) {
        OutOfMemory.tell(OutOfMemory.outsideHeap("data on its way"));
      } else {
        buffer = new Buffer(this, address, length);
      }
    } finally {
      if (buffer == null) {
        NativeMemory.free(address, length);
        unreserve(length);
      }
    }
    return buffer;
  }

  /**
   * Allocates memory as soon as there is some.
   *
   * @param deadline when to give up, on the clock of nanoseconds
   * @param taker called by this thread, by the one that frees memory, or by the one that calls
   *     {@link #expire}, then with {@link FsError#NO_MEMORY}; not called where this method fails
   */
  void whenFree(int length, long deadline, Taker taker) {
    Waiter waiter = new Waiter(length, deadline, taker);
    synchronized (this) {
      waiters.add(waiter);
    }
    grantSome();
  }

  /** Fails the waiters whose deadline has passed. */
  void expire(long now) {
    for (Answer late = takeLate(now); late != null; late = takeLate(now)) {
      late.tell();
    }
    grantSome();
  }

  private synchronized @Nullable Answer takeLate(long now) {
    for (int i = 0; i < waiters.size(); i++) {
      Waiter waiter = waiters.get(i);
      if (now - waiter.deadline >= 0) {
        Answer late = new Answer(waiter, null, none());
        waiters.remove(i);
        return late;
      }
    }
    return null;
  }

  private FsException none() {
    return new FsException(
        FsError.NO_MEMORY, "transit memory full: " + used() + " of " + capacity + " bytes in use");
  }

  private void giveBack(int length) {
    unreserve(length);
    grantSome();
  }

  private synchronized void unreserve(int length) {
    used -= length;
  }

  /**
   * Grants memory in the order of arrival, even if a later waiter needs less. Where the heap is
   * full, the rest of the waiters stay in the queue.
   */
  private void grantSome() {
    try {
      for (Answer next = takeNext(); next != null; next = takeNext()) {
        next.tell();
      }
    } catch (OutOfMemoryError e) {
      OutOfMemory.tell(e);
    }
  }

  private synchronized @Nullable Answer takeNext() {
    Waiter next = waiters.isEmpty() ? null : waiters.get(0);
    if (next == null || !reserve(next.length)) {
      return null;
    }
    Buffer buffer = allocate(next.length);
    Answer answer = null;
    try {
      answer = new Answer(next, buffer, buffer == null ? none() : null);
      waiters.remove(0);
    } finally {
      if (answer == null && buffer != null) {
        NativeMemory.free(buffer.address, buffer.length);
        unreserve(buffer.length);
      }
    }
    return answer;
  }

  /** Tells whether a fetch waits for memory. */
  synchronized boolean isShort() {
    return !waiters.isEmpty();
  }

  synchronized long used() {
    return used;
  }

  long capacity() {
    return capacity;
  }
}
