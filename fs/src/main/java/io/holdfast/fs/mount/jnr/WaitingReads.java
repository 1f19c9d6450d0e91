package io.holdfast.fs.mount.jnr;

import io.holdfast.fs.linux.Memory;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The reads that wait for their bytes, by the number that the kernel gave the request: so that one
 * whose reader got a signal can be ended. libfuse would only tell the thread by another signal.
 * Thread-safe.
 *
 * <pre>
 * struct fuse_interrupt_in, after the header: 0 unique u64 of the request that is interrupted
 * </pre>
 */
final class WaitingReads {
  private final ConcurrentHashMap<Long, BlockingReply> waiting = new ConcurrentHashMap<>();

  /** Waits for the answer to a read. */
  int await(long unique, BlockingReply reply) {
    waiting.put(unique, reply);
    try {
      return reply.await();
    } finally {
      waiting.remove(unique);
    }
  }

  /** Ends the read that an INTERRUPT request names, if it still waits. */
  void interrupt(long request) {
    BlockingReply reply = waiting.get(Memory.getLong(request + Request.HEADER_SIZE));
    if (reply != null) {
      reply.interrupted();
    }
  }
}
