package io.holdfast.fs.mount.kernel;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.Memory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * The requests that were received and are not answered yet, in memory that outlives the process:
 * the kernel writes a request into a slot, where it stays until its reply has been given. A daemon
 * that is killed leaves them to the next one, which answers them where the kernel cannot send them
 * again (before Linux 6.9). One that had just been answered is answered once more then, and the
 * kernel refuses that.
 *
 * <pre>
 * slot: 0 not 0 once it was used, u64, 64 request, with its length u32 first: 0 where there is none
 * </pre>
 *
 * <p>The pages of slots are there before they are used. A request whose receiver is killed before
 * the slot's page is there could not be written anywhere, and the kernel would answer it with EIO.
 *
 * <p>Thread-safe; the monitor guards the end.
 */
final class InFlight {
  /** The least that the kernel will write to; a request that is longer can only be a change. */
  static final int CAPACITY = 8192;

  private static final int REQUEST = 64;
  private static final int SLOT = REQUEST + CAPACITY;

  private final GrowingMemory memory;
  private final ConcurrentLinkedDeque<Long> free = new ConcurrentLinkedDeque<>();
  private final List<Long> left = new ArrayList<>();
  private long end;

  /** Uses memory, and finds what a daemon before this one has left in it. */
  InFlight(GrowingMemory memory) {
    this.memory = memory;
    while (end + SLOT <= memory.reserved() && Memory.getLong(memory.address() + end) != 0) {
      long request = memory.address() + end + REQUEST;
      memory.touch(end, end + SLOT);
      (Memory.getInt(request) == 0 ? free : left).add(request);
      end += SLOT;
    }
  }

  /** Returns the requests that a daemon before this one has not answered. */
  List<Long> left() {
    return List.copyOf(left);
  }

  /**
   * Returns where a request can be received.
   *
   * @throws FsException NO_MEMORY where there is none
   */
  long take() throws FsException {
    Long slot = free.pollFirst();
    return slot == null ? append() : slot;
  }

  private synchronized long append() throws FsException {
    memory.reserve(end + SLOT);
    memory.touch(end, end + SLOT);
    long slot = memory.address() + end;
    Memory.putLong(slot, 1);
    end += SLOT;
    return slot + REQUEST;
  }

  /** Takes a request out, once it has been answered. */
  void give(long request) {
    Memory.putInt(request, 0);
    free.addFirst(request);
  }
}
