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
  private final ConcurrentHashMap<Long, Waiting> waiting = new ConcurrentHashMap<>();

  private record Waiting(int reader, BlockingReply reply) {}

  /**
   * Waits for the answer to a read.
   *
   * @param reader the thread that reads
   */
  int await(long unique, int reader, BlockingReply reply) {
    waiting.put(unique, new Waiting(reader, reply));
    try {
      return reply.await();
    } finally {
      waiting.remove(unique);
    }
  }

  /** Ends the read that an INTERRUPT request names, if it still waits and its reader ends. */
  void interrupt(long request) {
    look(Memory.getLong(request + Request.HEADER_SIZE));
  }

  /**
   * Ends the read if its reader ends; else looks again later, because the kernel tells of the first
   * signal only.
   */
  private void look(long unique) {
    Waiting read = waiting.get(unique);
    if (read == null) {
      return;
    }
    if (CallerSignals.end(read.reader)) {
      read.reply.interrupted();
    } else {
      CallerSignals.later(() -> look(unique));
    }
  }
}
