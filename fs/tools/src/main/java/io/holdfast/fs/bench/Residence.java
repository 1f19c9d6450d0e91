package io.holdfast.fs.bench;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.Scratch;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Asks the kernel about files without opening them, and has it forget pages. Stateless. */
final class Residence {
  private static final byte[] ATTRIBUTE = "user.holdfast.items".getBytes(StandardCharsets.US_ASCII);
  private static final int NAME_ROOM = 64;
  private static final int VALUE_ROOM = 64;

  private Residence() {}

  /**
   * Tells whether all items of a file of a mount are resident.
   *
   * @throws FsException if the mount does not say
   */
  static boolean isResident(Path file) throws IOException {
    Scratch scratch = Linux.scratch();
    putPath(scratch, file);
    long name = scratch.area();
    long value = name + NAME_ROOM;
    Memory.putString(name, ATTRIBUTE);
    long length = LIBC.getxattr(scratch.path(), name, value, VALUE_ROOM);
    if (length < 0) {
      throw Linux.failure(Linux.errno(), file + " has no attribute user.holdfast.items");
    }
    String items = new String(Memory.bytes(value, (int) length), StandardCharsets.US_ASCII);
    int slash = items.indexOf('/');
    return slash > 0 && items.substring(0, slash).equals(items.substring(slash + 1));
  }

  /**
   * Loads the classes and functions that the first call would load, so that this takes no time
   * later.
   */
  static void prepare() {
    LIBC.gettid();
    Linux.scratch();
  }

  /** Has the kernel drop the clean pages of a file; does nothing if that is not possible. */
  static void forget(Path file) throws IOException {
    Scratch scratch = Linux.scratch();
    putPath(scratch, file);
    int fd = LIBC.openat(Linux.AT_FDCWD, scratch.path(), Linux.O_RDONLY | Linux.O_CLOEXEC, 0);
    if (fd >= 0) {
      LIBC.posix_fadvise(fd, 0, 0, Linux.POSIX_FADV_DONTNEED);
      LIBC.close(fd);
    }
  }

  private static void putPath(Scratch scratch, Path file) throws IOException {
    byte[] path = Linux.pathBytes(file.toString());
    if (path.length > Scratch.PATH_CAPACITY) {
      throw new IOException(file + ": the path is too long");
    }
    Memory.putString(scratch.path(), path);
  }
}
