package io.holdfast.fs.checkpoint;

import io.holdfast.fs.linux.GrowingMemory;

/**
 * Everything that the kernel, and programs through it, know of a mount by numbers, in memory that
 * outlives the daemon: nodes, handles of open files, and the requests that are not answered. The
 * next daemon goes on with it, and programs notice nothing.
 *
 * <pre>
 * node:   id, inode at the front, how often the kernel has looked it up, 1 if it has no name any more
 * handle: id, the node's id, flags, 0
 * </pre>
 *
 * <p>The front's lock guards the tables.
 */
public final class KernelState {
  /** The flags of a handle: a file that is open for writing. */
  static final int WRITES = 1;

  /** A directory. */
  static final int DIRECTORY = 2;

  /** A file that is open at the store, since the front does not have its bytes. */
  static final int AT_STORE = 4;

  private final RecordTable nodes;
  private final RecordTable handles;
  private final RequestsInFlight requests;

  /** Takes over what memory has of an earlier daemon, if there was one. */
  public KernelState(GrowingMemory nodes, GrowingMemory handles, GrowingMemory requests)
      throws ErrnoException {
    this.nodes = new RecordTable(nodes, CheckpointFilesystem.ROOT + 1);
    this.handles = new RecordTable(handles, 1);
    this.requests = new RequestsInFlight(requests);
  }

  RecordTable nodes() {
    return nodes;
  }

  RecordTable handles() {
    return handles;
  }

  /** Returns the requests that are not answered yet. */
  public RequestsInFlight requests() {
    return requests;
  }
}
