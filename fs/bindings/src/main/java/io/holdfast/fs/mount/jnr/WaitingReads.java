package io.holdfast.fs.mount.jnr;

import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.CallerSignals;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The reads that wait for their bytes, by the kernel's number of the request. If a signal ends the
 * reader, its read ends too; libfuse would only send the waiting thread another signal.
 * Thread-safe.
 *
 * <pre>
 * struct fuse_interrupt_in, after the header: 0 unique u64 of the request that is interrupted
 * </pre>
 */
final class WaitingReads {
  /** A second: a read that has not begun then has ended. */
  private static final int MOST_LOOKS = 20;

  private final ConcurrentHashMap<Long, Waiting> waiting = new ConcurrentHashMap<>();

  private record Waiting(int reader, long since, BlockingReply reply) {}

  /**
   * Begins a read, and waits for the answer. A read that fails may have passed its reply on; bytes
   * that come later are not copied.
   *
   * @param reader the thread that reads
   * @param read has the reply answered
   */
  int await(long unique, int reader, BlockingReply reply, Runnable read) {
    try {
      waiting.put(unique, new Waiting(reader, System.nanoTime(), reply));
      read.run();
      return reply.await();
    } finally {
      reply.interrupted();
      int unused = reply.await(); // another thread may be copying
      waiting.remove(unique);
    }
  }

  /** Ends the read that an INTERRUPT request names, if it still waits and its reader ends. */
  void interrupt(long request) {
    look(Memory.getLong(request + Request.HEADER_SIZE), MOST_LOOKS);
  }

  /**
   * Ends the read if its reader ends; else looks again later, because the kernel tells of the first
   * signal only. The read may begin later, on a thread that has just received it.
   *
   * @param looks how often to look for a read that is not known
   */
  private void look(long unique, int looks) {
    Waiting read = waiting.get(unique);
    if (read == null && looks > 0) {
      CallerSignals.later(() -> look(unique, looks - 1));
    } else if (read != null && CallerSignals.end(read.reader, read.since)) {
      read.reply.interrupted();
    } else if (read != null) {
      CallerSignals.later(() -> look(unique, 0));
    }
  }
}
