package io.holdfast.fs.linux;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import jnr.ffi.Pointer;

/**
 * Memory at one address that grows at its end, and that may be a file: then it is there again, with
 * what it held, when the process has been killed and the next one opens it. Meant for a filesystem
 * that is memory itself (tmpfs); nothing is ever synchronised to a disk.
 *
 * <p>Thread-safe as memory is. The whole address range is mapped at once; pages are taken as they
 * are {@linkplain #reserve reserved}.
 */
public final class GrowingMemory implements AutoCloseable {
  /** Address space, not memory: enough for 100 million names. */
  private static final long RANGE = 1L << 34;

  /** How much is reserved at a time. */
  private static final long STEP = 256 << 10;

  private static final int O_RDWR = 2;
  private static final int O_CREAT = 0x40;
  private static final int OWNER_ONLY = 0600;
  private static final int MFD_CLOEXEC = 1;
  private static final int PROT_READ_WRITE = 3;
  private static final int MAP_SHARED = 1;

  private final String what;
  private final int fd;
  private final long address;
  private final AtomicBoolean closed = new AtomicBoolean();

  /** Guarded by this. */
  private long reserved;

  private GrowingMemory(String what, int fd) throws FsException {
    this.what = what;
    this.fd = fd;
    if (fd < 0) {
      throw Linux.failure(Linux.errno(), what);
    }
    Pointer mapping =
        LIBC.ftruncate(fd, RANGE) == 0
            ? LIBC.mmap(null, RANGE, PROT_READ_WRITE, MAP_SHARED, fd, 0)
            : null;
    if (mapping == null || mapping.address() == -1) {
      int errno = Linux.errno();
      LIBC.close(fd);
      throw Linux.failure(errno, what);
    }
    address = mapping.address();
  }

  /** Returns memory that ends with the process. */
  public static GrowingMemory ofProcess(String what) throws FsException {
    long name = Linux.scratch().path();
    Memory.putString(name, Linux.pathBytes(what));
    return new GrowingMemory(what, LIBC.memfd_create(name, MFD_CLOEXEC));
  }

  /** Opens a file, or creates it. */
  public static GrowingMemory at(Path file) throws FsException {
    long path = Linux.scratch().path();
    Memory.putString(path, Linux.pathBytes(file.toString()));
    int flags = O_RDWR | O_CREAT | Linux.O_CLOEXEC | Linux.O_NOFOLLOW;
    return new GrowingMemory(file.toString(), LIBC.openat(Linux.AT_FDCWD, path, flags, OWNER_ONLY));
  }

  /** Returns where it begins; what was never written is zero. */
  public long address() {
    return address;
  }

  /**
   * Makes sure that everything below an offset can be written. A page that could not be had would
   * end the process when it is touched.
   *
   * @throws FsException NO_MEMORY where there is none left
   */
  public synchronized void reserve(long end) throws FsException {
    while (reserved < end) {
      if (reserved + STEP > RANGE || LIBC.fallocate(fd, 0, reserved, STEP) != 0) {
        throw new FsException(
            FsError.NO_MEMORY, what + ": no memory beyond " + reserved + " bytes");
      }
      reserved += STEP;
    }
  }

  /**
   * Brings pages into this process, with what they hold, so that nobody who writes to them has to
   * wait for a page; without swap they stay. To be called before others write there.
   */
  public void touch(long from, long to) {
    for (long at = from / Linux.PAGE_SIZE * Linux.PAGE_SIZE; at < to; at += Linux.PAGE_SIZE) {
      long touched = address + Math.max(at, from);
      Memory.putByte(touched, Memory.getByte(touched));
    }
  }

  /** Ends the mapping; nobody may use the memory any more. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      LIBC.munmap(address, RANGE);
      LIBC.close(fd);
    }
  }
}
