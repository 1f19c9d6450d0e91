package io.holdfast.fs.mount.kernel;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.Memory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The requests that were received and are not answered yet, in memory that outlives the process.
 * The kernel writes a request into a slot, where it stays until the kernel has its reply. A daemon
 * that is killed leaves these requests to the next one, which answers them if the kernel cannot
 * send them again (before Linux 6.9). A request that had just been answered then gets a second
 * answer, which the kernel refuses.
 *
 * <pre>
 * slot: 0 not 0 once it was used, u64, 64 request, with its length u32 first: 0 where there is none
 * </pre>
 *
 * <p>The pages of a slot are in memory before the slot is used. Otherwise, if the receiver were
 * killed while the slot's page is not there, the kernel could not write the request, and would
 * answer it with EIO.
 *
 * <p>Thread-safe. The monitor guards the slots.
 */
final class InFlight {
  /**
   * The least buffer that the kernel accepts. A longer request can only be a change, which this
   * mount refuses.
   */
  static final int CAPACITY = 8192;

  private static final int REQUEST = 64;
  private static final int SLOT = REQUEST + CAPACITY;

  /** Where in a slot the memory is for the answer: behind the word that tells a used slot. */
  private static final int ANSWER = 8;

  private static final int FIRST = 64;

  private final GrowingMemory memory;
  private final List<Long> left = new ArrayList<>();

  /** The free slots, of {@link #slots} at most: to free one takes no heap. */
  private long[] free = new long[FIRST];

  private int freeCount;
  private int slots;
  private long end;

  /** Uses memory, and finds the requests that an earlier daemon has left in it. */
  InFlight(GrowingMemory memory) {
    this.memory = memory;
    while (end + SLOT <= memory.reserved() && Memory.getLong(memory.address() + end) != 0) {
      long request = memory.address() + end + REQUEST;
      memory.touch(end, end + SLOT);
      makeRoom();
      if (Memory.getInt(request) == 0) {
        free[freeCount++] = request;
      } else {
        left.add(request);
      }
      slots++;
      end += SLOT;
    }
  }

  /** Returns the requests that an earlier daemon has not answered. */
  List<Long> left() {
    return List.copyOf(left);
  }

  /**
   * Returns a slot for the next request.
   *
   * @throws FsException NO_MEMORY if there is none
   */
  synchronized long take() throws FsException {
    return freeCount == 0 ? append() : free[--freeCount];
  }

  private long append() throws FsException {
    try {
      makeRoom();
    } catch (OutOfMemoryError e) {
      throw new FsException(FsError.NO_MEMORY, "the heap is full", e);
    }
    memory.reserve(end + SLOT);
    memory.touch(end, end + SLOT);
    long slot = memory.address() + end;
    Memory.putLong(slot, 1);
    slots++;
    end += SLOT;
    return slot + REQUEST;
  }

  private void makeRoom() {
    if (slots == free.length) {
      free = Arrays.copyOf(free, 2 * slots);
    }
  }

  /** Returns the memory for the answer to a request: {@link Channel#ANSWER} bytes. */
  static long answerOf(long request) {
    return request - REQUEST + ANSWER;
  }

  /** Frees the slot of a request that has been answered. */
  synchronized void give(long request) {
    Memory.putInt(request, 0);
    free[freeCount++] = request;
  }
}
