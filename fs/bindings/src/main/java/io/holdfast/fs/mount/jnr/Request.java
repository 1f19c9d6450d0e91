package io.holdfast.fs.mount.jnr;

import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Opcode;

/**
 * The request that a thread is answering, taken from its header before libfuse sees it: libfuse's
 * callbacks tell only the path.
 *
 * <pre>
 * struct fuse_in_header: 0 len u32, 4 opcode u32, 8 unique u64, 16 nodeid u64, 24 uid u32, 28 gid u32, 32 pid u32, 36 padding
 * </pre>
 *
 * <p>Used by one thread.
 */
final class Request {
  static final int HEADER_SIZE = 40;
  static final int OPCODE = 4;
  static final int UNIQUE = 8;
  static final int NODEID = 16;
  static final int UID = 24;
  static final int PID = 32;

  /** libfuse's number of the root. */
  static final long ROOT = 1;

  private int opcode;
  private long unique;
  private long kernelNode;
  private int thread;
  private int uid;
  private long shown;

  void begin(long header) {
    opcode = Memory.getInt(header + OPCODE);
    unique = Memory.getLong(header + UNIQUE);
    kernelNode = Memory.getLong(header + NODEID);
    thread = Memory.getInt(header + PID);
    uid = Memory.getInt(header + UID);
    shown = 0;
  }

  int opcode() {
    return opcode;
  }

  /** Returns the kernel's number of the request. */
  long unique() {
    return unique;
  }

  boolean isLookup() {
    return opcode == Opcode.LOOKUP.code();
  }

  /**
   * Returns libfuse's number of the node that the request is about; of a lookup, of the directory.
   */
  long kernelNode() {
    return kernelNode;
  }

  /** Returns the kernel's id of the calling thread. */
  int thread() {
    return thread;
  }

  /** Returns the user for whom the kernel asks. */
  int uid() {
    return uid;
  }

  /** Takes note of the node that the reply will show. */
  void show(long node) {
    shown = node;
  }

  /** Returns the node that the reply shows, or 0. */
  long shown() {
    return shown;
  }
}
