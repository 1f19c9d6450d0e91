package io.holdfast.fs.transit;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.NativeMemory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Native memory with a bound. No thread waits: a fetch that finds no memory gets it later through a
 * future. Thread-safe; the monitor guards the used bytes and the queue, and is a leaf lock.
 */
final class TransitMemory {
  private final long capacity;
  private final Deque<Waiter> waiters = new ArrayDeque<>();
  private long used;

  private record Waiter(int length, long deadline, CompletableFuture<Buffer> granted) {}

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

  private @Nullable Buffer allocate(int length) {
    long address = NativeMemory.allocate(length);
    if (address == 0) {
      unreserve(length);
      return null;
    }
    return new Buffer(this, address, length);
  }

  /**
   * Allocates memory as soon as there is some.
   *
   * @param deadline when to give up, on the clock of nanoseconds
   * @return completed by the thread that frees memory, or that calls {@link #expire}, then with
   *     {@link FsError#NO_MEMORY}
   */
  CompletableFuture<Buffer> whenFree(int length, long deadline) {
    CompletableFuture<Buffer> granted = new CompletableFuture<>();
    synchronized (this) {
      waiters.add(new Waiter(length, deadline, granted));
    }
    grant();
    return granted;
  }

  /** Fails the waiters whose deadline has passed. */
  void expire(long now) {
    List<Waiter> late = new ArrayList<>(0);
    synchronized (this) {
      Iterator<Waiter> each = waiters.iterator();
      while (each.hasNext()) {
        Waiter waiter = each.next();
        if (now - waiter.deadline >= 0) {
          each.remove();
          late.add(waiter);
        }
      }
    }
    late.forEach(waiter -> waiter.granted.completeExceptionally(none()));
  }

  private FsException none() {
    return new FsException(
        FsError.NO_MEMORY, "transit memory full: " + used() + " of " + capacity + " bytes in use");
  }

  private void giveBack(int length) {
    unreserve(length);
    grant();
  }

  private synchronized void unreserve(int length) {
    used -= length;
  }

  /** Grants memory in the order of arrival, even if a later waiter needs less. */
  private void grant() {
    for (Waiter next = takeNext(); next != null; next = takeNext()) {
      Buffer buffer = allocate(next.length);
      if (buffer == null) {
        next.granted.completeExceptionally(none());
      } else {
        next.granted.complete(buffer);
      }
    }
  }

  private synchronized @Nullable Waiter takeNext() {
    Waiter next = waiters.peek();
    if (next == null || !reserve(next.length)) {
      return null;
    }
    return waiters.remove();
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
