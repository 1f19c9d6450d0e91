package io.holdfast.fs.mount.jnr;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Filesystem;
import io.holdfast.fs.mount.ListedEntry;
import io.holdfast.fs.mount.Opcode;
import io.holdfast.fs.mount.PendingReplies;
import java.util.ArrayList;
import java.util.List;

/**
 * Answers LOOKUP and READDIR before libfuse gets the request; the callback only hands the answer
 * over. Both may find that a name leads elsewhere at the origin, and then libfuse must forget the
 * name. It does so when no callback is at work below the name, and lets no other one begin there
 * meanwhile. A callback that had libfuse forget a name would therefore wait for another callback
 * that does the same, and that one for the first.
 *
 * <pre>
 * LOOKUP   40 name, ends with 0
 * READDIR  40 fh u64, 48 offset u64, 56 size u32
 * GETATTR  40 flags u32, 44 padding u32, 48 fh u64
 * </pre>
 *
 * <p>Thread-safe; a request belongs to the thread that answers it.
 */
final class EarlyAnswers {
  /** Offsets of the two entries that every directory has. */
  static final long SELF_OFFSET = 1;

  static final long PARENT_OFFSET = 2;

  private static final int NAME = Request.HEADER_SIZE;
  private static final int OFFSET = Request.HEADER_SIZE + 8;
  private static final int SIZE = Request.HEADER_SIZE + 16;
  private static final int GETATTR_LENGTH = Request.HEADER_SIZE + 16;

  /** Bytes of an entry in the reply without its name, which is padded to full words. */
  private static final int ENTRY = 24;

  private final Filesystem filesystem;
  private final PendingReplies pendingReplies;
  private final KeptDirectories directories;
  private final Forgets.Processing libfuse;

  /** Finds the answer in a directory. */
  @FunctionalInterface
  private interface Finding {
    void in(long directory) throws FsException;
  }

  EarlyAnswers(
      Filesystem filesystem,
      PendingReplies pendingReplies,
      KeptDirectories directories,
      Forgets.Processing libfuse) {
    this.filesystem = filesystem;
    this.pendingReplies = pendingReplies;
    this.directories = directories;
    this.libfuse = libfuse;
  }

  /** Looks up the name of a LOOKUP; the entry's node is then pending until the reply is sent. */
  void lookup(Request request, long message) {
    answer(
        request,
        directory ->
            request.setEntry(
                pendingReplies.lookup(
                    filesystem, directory, Memory.string(message + NAME), request.asker())));
  }

  /** Lists as many entries as have room in the reply. */
  void list(Request request, long message) {
    long after = Memory.getLong(message + OFFSET) - PARENT_OFFSET;
    long room = Integer.toUnsignedLong(Memory.getInt(message + SIZE));
    answer(request, directory -> request.setEntries(entries(directory, after, room)));
  }

  private void answer(Request request, Finding finding) {
    request.setFailure(
        Operations.answer(
            () -> {
              long directory = directory(request);
              if (directory == 0) {
                throw new FsException(FsError.STALE, "replaced at the origin");
              }
              request.setDirectory(directory);
              finding.in(directory);
              return 0;
            }));
  }

  private List<ListedEntry> entries(long directory, long after, long room) throws FsException {
    List<ListedEntry> entries = new ArrayList<>();
    long[] left = {room};
    filesystem.list(
        directory,
        Math.max(0, after),
        type -> false,
        entry -> {
          left[0] -= ENTRY + (entry.name().length + 7 & -Long.BYTES);
          boolean hasRoom = left[0] >= 0;
          if (hasRoom) {
            entries.add(entry);
          }
          return hasRoom;
        });
    return entries;
  }

  /** Returns the core's node of the directory that a request is about, or 0 where it has gone. */
  private long directory(Request request) {
    long number = request.kernelNode();
    long known = directories.node(number);
    if (known != 0) {
      return known;
    }
    askForPath(request, number);
    return directories.node(number);
  }

  /** Only callbacks are told paths, so libfuse gets a request that the kernel has not sent. */
  private void askForPath(Request request, long number) {
    long message = LIBC.malloc(GETATTR_LENGTH);
    if (message == 0) {
      throw OutOfMemory.outsideHeap("a request");
    }
    try {
      Memory.clear(message, GETATTR_LENGTH);
      Memory.putInt(message, GETATTR_LENGTH);
      Memory.putInt(message + Request.OPCODE, Opcode.GETATTR.code());
      Memory.putLong(message + Request.UNIQUE, Request.NOT_OF_THE_KERNEL);
      Memory.putLong(message + Request.NODEID, number);
      request.withoutKernel(() -> libfuse.process(message, GETATTR_LENGTH));
    } finally {
      LIBC.free(message);
    }
  }
}
