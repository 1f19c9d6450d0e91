package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;

/**
 * A change of a file's attributes that a program wants. Immutable.
 *
 * @param mode permissions, or -1 to leave them
 * @param uid owner, or -1 to leave it; {@code gid} too
 * @param size bytes, or -1 to leave it
 * @param accessed nanoseconds of the epoch, or {@link FileTree#OMIT}; {@code modified} too
 */
public record Change(int mode, int uid, int gid, long size, long accessed, long modified) {
  /** Tells whether anything but the size changes. */
  boolean hasAttributes() {
    return mode != -1
        || uid != -1
        || gid != -1
        || accessed != FileTree.OMIT
        || modified != FileTree.OMIT;
  }

  /** Changes an open file; times stay, which no name leads to any more. */
  void apply(int fd) throws ErrnoException {
    long empty = Linux.scratch().path();
    Memory.putByte(empty, 0);
    int failed = 0;
    if (uid != -1 || gid != -1) {
      failed |= LIBC.fchownat(fd, empty, uid, gid, Linux.AT_EMPTY_PATH);
    }
    if (failed == 0 && mode != -1) {
      failed |= LIBC.fchmod(fd, mode);
    }
    if (failed == 0 && size >= 0) {
      failed |= LIBC.ftruncate(fd, size);
    }
    if (failed != 0) {
      throw ErrnoException.of(Linux.errno(), "");
    }
  }
}
