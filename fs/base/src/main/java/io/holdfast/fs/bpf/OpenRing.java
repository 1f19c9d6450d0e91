package io.holdfast.fs.bpf;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsException;
import io.holdfast.fs.bpf.Bpf.Shared;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.NativeMemory;
import java.lang.invoke.VarHandle;

/**
 * Opens of a mount's files, as an {@link OpenProgram} writes them, in memory that the kernel shares
 * with this process. Works as long as it is open, and the process lives. Holds {@value #RECORDS}
 * opens; the kernel counts those that find no room, and leaves them out.
 *
 * <p>For one thread: the one that has created it, whose descriptors it uses. Source: {@code
 * Documentation/bpf/ringbuf.rst} of Linux, and {@code kernel/bpf/ringbuf.c} for the layout.
 *
 * <pre>
 * page 0:  0 where the reader is u64; written by the reader
 * page 1:  0 where the writers are u64
 * page 2:  the records, each 0 length u32 | discarded &lt;&lt; 30 | busy &lt;&lt; 31, 4 u32, then the
 *          program's bytes, which are
 *          0 thread u32, 4 process u32, 8 inode u64, 16 size u64
 * </pre>
 */
public final class OpenRing implements AutoCloseable {
  /** The opens that may wait. */
  static final int RECORDS = 1 << 18;

  /** The bytes of a record that the program writes, and where its parts are. */
  static final int RECORD = 24;

  static final int THREAD = 0;
  static final int INODE = 8;
  static final int SIZE = 16;

  private static final int HEADER = 8;

  /**
   * The bytes between two records. They divide the ring's, so no record is in two pieces: one end
   * of the ring, and the other.
   */
  private static final int STEP = HEADER + RECORD;

  private static final int BYTES = RECORDS * STEP;

  private static final int BUSY = 1 << 31;
  private static final int DISCARDED = 1 << 30;

  /** Takes opens. */
  @FunctionalInterface
  public interface Taker {
    /**
     * Takes an open.
     *
     * @param thread the kernel's number of the thread
     * @param size the file's bytes
     */
    void opened(int thread, long inode, long size);
  }

  /** Gives the kernel a program that writes to a ring. */
  @FunctionalInterface
  interface Start {
    /** Returns a descriptor that is to be open as long as the ring, from those of its memory. */
    int start(int ring, int lost) throws FsException;
  }

  private int ring = -1;
  private int lost = -1;
  private int program = -1;
  private long reader;
  private long writers;
  private long numbers;

  private OpenRing() {}

  /**
   * Creates a ring.
   *
   * @param name up to 15 letters, which tools show
   * @throws FsException if the kernel gives no memory, or the start fails; nothing is left then
   */
  static OpenRing create(String name, Start start) throws FsException {
    OpenRing made = new OpenRing();
    try {
      made.ring = Bpf.share(Shared.RING, BYTES, name);
      made.lost = Bpf.share(Shared.ARRAY, 1, name);
      made.reader = mapped(NativeMemory.mapWritable(made.ring, 0, Linux.PAGE_SIZE));
      made.writers = mapped(NativeMemory.map(made.ring, Linux.PAGE_SIZE, shownBytes()));
      made.numbers = mapped(NativeMemory.map(made.lost, 0, Linux.PAGE_SIZE));
      made.program = start.start(made.ring, made.lost);
      return made;
    } catch (Throwable e) {
      made.close();
      throw e;
    }
  }

  private static long mapped(long result) throws FsException {
    if (result < 0) {
      throw Linux.failure((int) -result, "mmap(2) of a program's memory");
    }
    return result;
  }

  /** The writers' page and the records. */
  private static long shownBytes() {
    return Linux.PAGE_SIZE + (long) BYTES;
  }

  /** Waits until an open can be taken; true if so. */
  public boolean await(int millis) {
    return Linux.awaitReadable(ring, millis);
  }

  /** Takes the opens that have been written before the call, in order. */
  public void take(Taker taker) {
    long at = Memory.getLong(reader);
    long end = Memory.getLong(writers);
    VarHandle.acquireFence(); // no part of a record is read before the end was
    while (at < end) {
      long record = writers + Linux.PAGE_SIZE + at % BYTES;
      int head = Memory.getInt(record);
      VarHandle.acquireFence(); // the kernel sets the length when the rest is there
      if ((head & BUSY) != 0) {
        return;
      }
      try {
        if ((head & DISCARDED) == 0) {
          taker.opened(
              Memory.getInt(record + HEADER + THREAD),
              Memory.getLong(record + HEADER + INODE),
              Memory.getLong(record + HEADER + SIZE));
        }
      } finally {
        at += STEP;
        VarHandle.releaseFence(); // the kernel may write here from now on
        Memory.putLong(reader, at);
      }
    }
  }

  /** Returns how many opens found no room. */
  public long lost() {
    return Memory.getLong(numbers);
  }

  /** Ends the program, and frees the memory. */
  @Override
  public void close() {
    for (int fd : new int[] {program, ring, lost}) {
      if (fd >= 0) {
        LIBC.close(fd);
      }
    }
    unmap(reader, Linux.PAGE_SIZE);
    unmap(writers, shownBytes());
    unmap(numbers, Linux.PAGE_SIZE);
  }

  private static void unmap(long address, long length) {
    if (address > 0) {
      NativeMemory.unmap(address, length);
    }
  }
}
