package io.holdfast.fs.mount.jnr;

import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Asker;
import io.holdfast.fs.mount.Filesystem.Entry;
import io.holdfast.fs.mount.ListedEntry;
import io.holdfast.fs.mount.Opcode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The request that a thread is answering. Its header is read before libfuse gets the request,
 * because libfuse's callbacks get only the path.
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
  static final int GID = 28;
  static final int PID = 32;

  /** libfuse's number of the root. */
  static final long ROOT = 1;

  /** A request id that the kernel never gives out: it counts up from 2, by 2. */
  static final long NOT_OF_THE_KERNEL = Long.MAX_VALUE;

  private int opcode;
  private long unique;
  private long kernelNode;
  private int thread;
  private int uid;
  private int gid;
  private boolean withoutKernel;
  private boolean inCallback;

  // the early answer

  private long directory;
  private int failure;
  private @Nullable Entry entry;
  private List<ListedEntry> entries = List.of();

  void begin(long header) {
    opcode = Memory.getInt(header + OPCODE);
    unique = Memory.getLong(header + UNIQUE);
    kernelNode = Memory.getLong(header + NODEID);
    thread = Memory.getInt(header + PID);
    uid = Memory.getInt(header + UID);
    gid = Memory.getInt(header + GID);
    directory = 0;
    failure = 0;
    entry = null;
    entries = List.of();
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
   * Returns libfuse's number of the node that the request is about; for a LOOKUP, of the directory.
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

  /** Returns the same with its group and thread. */
  Asker asker() {
    return new Asker(uid, gid, thread);
  }

  /** Runs requests that the kernel has not sent, on the thread of this one. */
  void withoutKernel(Runnable requests) {
    withoutKernel = true;
    try {
      requests.run();
    } finally {
      withoutKernel = false;
    }
  }

  /** Tells whether a callback is for a request that the kernel has not sent. */
  boolean isWithoutKernel() {
    return withoutKernel;
  }

  /** Has libfuse answer the request, and call back meanwhile. */
  void callingBack(Runnable libfuse) {
    inCallback = true;
    try {
      libfuse.run();
    } finally {
      inCallback = false;
    }
  }

  /** Tells whether the thread may be within a callback. */
  boolean isInCallback() {
    return inCallback;
  }

  /** Sets the core's node of the directory of a LOOKUP or READDIR. */
  void setDirectory(long node) {
    directory = node;
  }

  /** Returns the core's node of the directory, or 0 if it was not found. */
  long directory() {
    return directory;
  }

  /** Sets the negative errno of an early answer that failed, or 0. */
  void setFailure(int errno) {
    failure = errno;
  }

  /** Returns the negative errno of the early answer, or 0. */
  int failure() {
    return failure;
  }

  /** Sets the answer of a LOOKUP. */
  void setEntry(Entry found) {
    entry = found;
  }

  /** Returns the answer of a LOOKUP, or null if there is none. */
  @Nullable Entry entry() {
    return entry;
  }

  /** Sets the answer of a READDIR. */
  void setEntries(List<ListedEntry> listed) {
    entries = listed;
  }

  /** Returns the answer of a READDIR. */
  List<ListedEntry> entries() {
    return entries;
  }
}
