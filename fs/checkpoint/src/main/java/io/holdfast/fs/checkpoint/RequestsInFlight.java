package io.holdfast.fs.checkpoint;

import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.Memory;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import jnr.constants.platform.Errno;

/**
 * The requests that were received and are not answered yet, with what was done for each, in memory
 * that outlives the process. The kernel sends a request again that a killed daemon has not
 * answered. The next daemon must not perform it a second time: a file that was just removed could
 * not be removed, and the program would get an error.
 *
 * <p>Operations have numbers, and the log tells which was the last. So the number of the operation
 * that a request was about to perform says whether it was performed, whenever the daemon was
 * killed.
 *
 * <pre>
 * slot: 0 header of the request, as the kernel wrote it: 0 length u32, 0 where there is no request, 8 unique u64,
 *       64 progress i64: how many operations were performed, in the highest 16 bits, and the number of the
 *          operation that was begun behind them, 0 for none
 *       72 the handle that was opened i64, 0 for none
 * </pre>
 *
 * <p>Thread-safe: the monitor guards the slots that nobody uses; a used one is its thread's.
 */
public final class RequestsInFlight {
  /** The bytes of a request's header. */
  public static final int HEADER = 40;

  private static final int UNIQUE = 8;
  private static final int PROGRESS = 64;
  private static final int HANDLE = 72;
  private static final int SLOT = 128;
  private static final int COUNT_SHIFT = 48;
  private static final long SEQUENCE = (1L << COUNT_SHIFT) - 1;

  /** The kernel sets it in the number of a request that it sends again. */
  private static final long SENT_AGAIN = 1L << 63;

  /** The request that a thread is answering. */
  private static final class Answering {
    final long slot;

    /** How many operations an earlier daemon has performed, which this one has not come to yet. */
    int ahead;

    Answering(long slot, int ahead) {
      this.slot = slot;
      this.ahead = ahead;
    }
  }

  private final GrowingMemory memory;
  private final ArrayDeque<Long> free = new ArrayDeque<>();
  private final Map<Thread, Answering> answering = new ConcurrentHashMap<>();

  /** By the number of the request: the slots of an earlier daemon. */
  private final Map<Long, List<Long>> left = new HashMap<>();

  private long end;

  /** Uses memory, and finds the requests that an earlier daemon has left in it. */
  public RequestsInFlight(GrowingMemory memory) {
    this.memory = memory;
    long reserved = memory.reserved();
    for (long at = 0; at + SLOT <= reserved; at += SLOT) {
      long slot = memory.address() + at;
      if (Memory.getInt(slot) == 0) {
        free.add(slot);
      } else {
        left.computeIfAbsent(number(slot), unique -> new ArrayList<>()).add(slot);
      }
      end = at + SLOT;
    }
    memory.touch(0, end);
  }

  private static long number(long slot) {
    return Memory.getLong(slot + UNIQUE) & ~SENT_AGAIN;
  }

  /**
   * Notes which operations the earlier daemon has performed, before others get their numbers.
   *
   * @param last the number of the last operation that was performed
   */
  synchronized void settle(long last) {
    for (List<Long> slots : left.values()) {
      for (long slot : slots) {
        long progress = Memory.getLong(slot + PROGRESS);
        long begun = progress & SEQUENCE;
        long count = (progress >>> COUNT_SHIFT) + (begun != 0 && begun <= last ? 1 : 0);
        Memory.putLong(slot + PROGRESS, count << COUNT_SHIFT);
      }
    }
  }

  /**
   * Forgets the requests of an earlier daemon; for a kernel that does not send them again.
   *
   * @return their numbers
   */
  public synchronized Collection<Long> forgetLeft() {
    List<Long> numbers = new ArrayList<>(left.keySet());
    left.values().forEach(slots -> slots.forEach(this::clear));
    left.clear();
    return numbers;
  }

  /**
   * Returns a slot for a thread, where the kernel writes the headers of its requests.
   *
   * @throws ErrnoException ENOMEM if there is no memory for it
   */
  public synchronized long take() throws ErrnoException {
    Long slot = free.poll();
    if (slot != null) {
      return slot;
    }
    try {
      memory.reserve(end + SLOT);
    } catch (IOException e) {
      throw ErrnoException.because(Errno.ENOMEM, "", String.valueOf(e.getMessage()));
    }
    memory.touch(end, end + SLOT); // else the kernel could not write there if this is killed
    long next = memory.address() + end;
    end += SLOT;
    return next;
  }

  /** The kernel has the answer to a request that had left its thread; takes its slot back. */
  public synchronized void answered(long slot) {
    clear(slot);
  }

  /** Takes a slot back whose thread ends. */
  public synchronized void give(long slot) {
    free.add(slot);
  }

  /** The calling thread begins to answer the request of its slot. */
  public void begin(long slot) {
    long progress = 0;
    long handle = 0;
    synchronized (this) {
      List<Long> before = left.isEmpty() ? null : left.remove(number(slot));
      if (before != null) {
        for (long each : before) {
          progress = Math.max(progress, Memory.getLong(each + PROGRESS));
          handle = Math.max(handle, Memory.getLong(each + HANDLE));
        }
        Memory.putLong(slot + PROGRESS, progress);
        Memory.putLong(slot + HANDLE, handle);
        before.forEach(this::clear);
      }
    }
    int ahead = (int) (progress >>> COUNT_SHIFT);
    answering.put(Thread.currentThread(), new Answering(slot, ahead));
  }

  /** The kernel has the answer. */
  public void end(long slot) {
    answering.remove(Thread.currentThread());
    forget(slot);
  }

  private void clear(long slot) {
    forget(slot);
    free.add(slot);
  }

  private static void forget(long slot) {
    Memory.putInt(slot, 0);
    Memory.putLong(slot + PROGRESS, 0);
    Memory.putLong(slot + HANDLE, 0);
  }

  /**
   * Tells whether an earlier daemon has performed the next operation of the calling thread's
   * request.
   */
  boolean isPerformed() {
    Answering now = answering.get(Thread.currentThread());
    return now != null && now.ahead > 0;
  }

  /** Passes over an operation that was performed. */
  void pass() {
    Answering now = answering.get(Thread.currentThread());
    if (now != null) {
      now.ahead--;
    }
  }

  /** The calling thread is about to perform an operation, with the front's lock. */
  void performs(long sequence) {
    Answering now = answering.get(Thread.currentThread());
    if (now != null) {
      long progress = Memory.getLong(now.slot + PROGRESS);
      long begun = progress & SEQUENCE;
      long count = (progress >>> COUNT_SHIFT) + (begun == 0 || begun == sequence ? 0 : 1);
      Memory.putLong(now.slot + PROGRESS, count << COUNT_SHIFT | sequence);
    }
  }

  /** It has failed, and its number is the next operation's. */
  void failed() {
    Answering now = answering.get(Thread.currentThread());
    if (now != null) {
      long progress = Memory.getLong(now.slot + PROGRESS);
      Memory.putLong(now.slot + PROGRESS, progress & ~SEQUENCE);
    }
  }

  /** The calling thread's request has opened a file, whose handle its program does not know yet. */
  void opened(long handle) {
    Answering now = answering.get(Thread.currentThread());
    if (now != null) {
      Memory.putLong(now.slot + HANDLE, handle);
    }
  }

  /** Returns the handle that an earlier daemon has opened for the same request; 0 for none. */
  long openedBefore() {
    Answering now = answering.get(Thread.currentThread());
    return now == null ? 0 : Memory.getLong(now.slot + HANDLE);
  }
}
