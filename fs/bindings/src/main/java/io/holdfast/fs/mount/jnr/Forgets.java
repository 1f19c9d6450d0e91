package io.holdfast.fs.mount.jnr;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Opcode;

/**
 * Changes what libfuse learns of the nodes that the kernel forgets. For {@linkplain KeptDirectories
 * directories that are kept}, a message names the root instead, which libfuse never forgets. So
 * libfuse does not see the directory's number, which it might not know any more when it comes to
 * that entry.
 *
 * <pre>
 * FORGET        40 nlookup u64
 * BATCH_FORGET  40 count u32, 44 padding, 48 count times: nodeid u64, nlookup u64
 * </pre>
 *
 * <p>Stateless.
 */
final class Forgets {
  private static final int LOOKUPS = Request.HEADER_SIZE;
  private static final int LENGTH = Request.HEADER_SIZE + Long.BYTES;
  private static final int COUNT = Request.HEADER_SIZE;
  private static final int FIRST = Request.HEADER_SIZE + 8;
  private static final int ENTRY = 16;

  /** Has libfuse process a request. */
  @FunctionalInterface
  interface Processing {
    /** Takes the address and the length of the request. */
    void process(long request, long length);
  }

  private Forgets() {}

  /**
   * Changes a request so that directories are kept.
   *
   * @param request FORGET or BATCH_FORGET
   * @param length bytes of it
   * @param directories take the forgotten lookups of these directories
   */
  static void keep(long request, int length, KeptDirectories directories) {
    if (Memory.getInt(request + Request.OPCODE) == Opcode.FORGET.code()) {
      keepOne(request + Request.NODEID, request + LOOKUPS, directories);
      return;
    }
    long count = Integer.toUnsignedLong(Memory.getInt(request + COUNT));
    for (long i = 0; i < count && FIRST + (i + 1) * ENTRY <= length; i++) {
      long entry = request + FIRST + i * ENTRY;
      keepOne(entry, entry + Long.BYTES, directories);
    }
  }

  private static void keepOne(long number, long lookups, KeptDirectories directories) {
    if (directories.withhold(Memory.getLong(number), Memory.getLong(lookups))) {
      Memory.putLong(number, Request.ROOT);
      Memory.putLong(lookups, 0);
    }
  }

  /** Has libfuse forget lookups, as the kernel would. */
  static void forget(long number, long lookups, Processing libfuse) {
    long message = LIBC.malloc(LENGTH);
    try {
      Memory.clear(message, LENGTH);
      Memory.putInt(message, LENGTH);
      Memory.putInt(message + Request.OPCODE, Opcode.FORGET.code());
      Memory.putLong(message + Request.NODEID, number);
      Memory.putLong(message + LOOKUPS, lookups);
      libfuse.process(message, LENGTH);
    } finally {
      LIBC.free(message);
    }
  }
}
