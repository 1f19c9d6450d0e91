package io.holdfast.fs.linux;

import static io.holdfast.fs.linux.Libc.LIBC;

import com.kenai.jffi.PageManager;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import jnr.constants.platform.Errno;
import jnr.ffi.Runtime;

/**
 * Constants of the kernel's interface and the calls that need more than a C function. All methods
 * are thread-safe; each thread has its own errno and its own {@link #scratch()}.
 */
public final class Linux {
  public static final int AT_FDCWD = -100;
  public static final int AT_EMPTY_PATH = 0x1000;
  public static final int AT_SYMLINK_NOFOLLOW = 0x100;

  public static final int O_RDONLY = 0;
  public static final int O_NOFOLLOW = onArm() ? 0x8000 : 0x20000;
  public static final int O_DIRECTORY = onArm() ? 0x4000 : 0x10000;
  public static final int O_CLOEXEC = 0x80000;
  public static final int F_DUPFD_CLOEXEC = 1030;
  public static final int O_NOATIME = 0x40000;
  public static final int O_PATH = 0x200000;
  public static final int O_NONBLOCK = 0x800;

  public static final int POSIX_FADV_RANDOM = 1;
  public static final int POSIX_FADV_DONTNEED = 4;

  /** Bytes of a page of memory. */
  public static final int PAGE_SIZE = pageSize();

  private static final int DIRECTORY = O_PATH | O_DIRECTORY | O_CLOEXEC;
  private static final int LONGEST_FDINFO = 1024;
  private static final String MOUNT_NUMBER = "mnt_id:";

  /** struct pollfd: 0 fd i32, 4 events i16, 6 revents i16. */
  private static final int POLLFD_EVENTS = 4;

  private static final int POLLIN = 1;

  private static final long SYS_OPENAT2 = 437;
  private static final long SYS_CACHESTAT = 451;
  private static final long RESOLVE_NO_XDEV = 0x01;

  /** RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS and RESOLVE_BENEATH. */
  private static final long BENEATH = 0x02 | 0x04 | 0x08;

  /** struct open_how: u64 flags, u64 mode, u64 resolve. */
  private static final int OPEN_HOW_SIZE = 24;

  /**
   * struct cachestat_range: u64 off, u64 len; struct cachestat: u64 nr_cache first, 40 bytes in
   * all.
   */
  private static final int CACHESTAT_RANGE_SIZE = 16;

  private static final Runtime RUNTIME = Runtime.getSystemRuntime();
  private static final ThreadLocal<Scratch> SCRATCH = ThreadLocal.withInitial(Scratch::new);

  private Linux() {}

  /** Returns the error of this thread's last call that failed. */
  public static int errno() {
    return RUNTIME.getLastError();
  }

  /** Returns the processor time that this process has used, in nanoseconds. */
  public static long processorNanos() {
    return 1000 * LIBC.clock();
  }

  /** Returns this thread's scratch memory. */
  public static Scratch scratch() {
    return SCRATCH.get();
  }

  /**
   * Waits until a read of the file would find something. Uses the scratch memory of this thread.
   *
   * @param millis the longest wait; 0 only looks
   * @return whether a read would find something
   */
  public static boolean awaitReadable(int fd, int millis) {
    long pollfd = scratch().area();
    Memory.putInt(pollfd, fd);
    Memory.putInt(pollfd + POLLFD_EVENTS, POLLIN);
    return LIBC.poll(pollfd, 1, millis) == 1
        && (Memory.getInt(pollfd + POLLFD_EVENTS) >>> 16 & POLLIN) != 0;
  }

  /**
   * Opens a path beneath a directory. Follows no symlink, neither as the last component nor as any
   * before it.
   *
   * @param dirfd an open directory
   * @param path relative, without a leading slash; empty for the directory itself; may be longer
   *     than PATH_MAX
   * @param flags O_ flags
   * @return a descriptor, or a negative errno
   */
  public static int openBeneath(int dirfd, byte[] path, int flags) {
    int from = 0;
    int current = dirfd;
    while (path.length - from > Scratch.PATH_CAPACITY) {
      int cut = lastSlash(path, from, from + Scratch.PATH_CAPACITY);
      int next =
          cut < 0
              ? -Errno.ENAMETOOLONG.intValue()
              : openBeneath(current, path, from, cut - from, DIRECTORY, BENEATH);
      if (current != dirfd) {
        LIBC.close(current);
      }
      if (next < 0) {
        return next;
      }
      current = next;
      from = cut + 1;
    }
    int fd = openBeneath(current, path, from, path.length - from, flags, BENEATH);
    if (current != dirfd) {
      LIBC.close(current);
    }
    return fd;
  }

  /**
   * Opens a directory as a place (O_PATH). Follows no symlink in any component of its path.
   *
   * @param path absolute
   * @return a descriptor, or a negative errno: of ELOOP where a component is a symlink
   */
  public static int openDirectory(Path path) {
    long slash = scratch().path();
    Memory.putString(slash, pathBytes("/"));
    int root = LIBC.openat(AT_FDCWD, slash, DIRECTORY, 0);
    if (root < 0) {
      return -errno();
    }
    int fd = openBeneath(root, pathBytes(path.toString().substring(1)), DIRECTORY);
    LIBC.close(root);
    return fd;
  }

  /** The same for a directory in an open one. */
  static int openDirectory(int dirfd, String name) {
    return openBeneath(dirfd, pathBytes(name), DIRECTORY);
  }

  /** Returns the number of the mount that an open file is on, as the mount table has it; or -1. */
  public static int mountNumber(int fd) {
    byte[] info = head("/proc/thread-self/fdinfo/" + fd, LONGEST_FDINFO);
    return new String(info, StandardCharsets.US_ASCII)
        .lines()
        .filter(line -> line.startsWith(MOUNT_NUMBER))
        .map(line -> Integer.parseInt(line.substring(MOUNT_NUMBER.length()).strip()))
        .findFirst()
        .orElse(-1);
  }

  /** Returns the path of an open file of this thread, which leads to the file itself. */
  public static String descriptorPath(int fd) {
    return "/proc/thread-self/fd/" + fd;
  }

  /**
   * Opens a path beneath a directory, as {@link #openBeneath} does, and crosses no mount: another
   * filesystem may never answer.
   *
   * @param path not longer than PATH_MAX
   */
  static int openOnSameMount(int dirfd, byte[] path, int flags) {
    return path.length > Scratch.PATH_CAPACITY
        ? -Errno.ENAMETOOLONG.intValue()
        : openBeneath(dirfd, path, 0, path.length, flags, BENEATH | RESOLVE_NO_XDEV);
  }

  private static int openBeneath(
      int dirfd, byte[] path, int from, int length, int flags, long resolve) {
    Scratch scratch = scratch();
    if (length == 0) {
      Memory.putByte(scratch.path(), '.');
      Memory.putByte(scratch.path() + 1, 0);
    } else {
      Memory.put(scratch.path(), path, from, length);
      Memory.putByte(scratch.path() + length, 0);
    }
    long how = scratch.area();
    Memory.putLong(how, flags);
    Memory.putLong(how + 8, 0);
    Memory.putLong(how + 16, resolve);
    int fd = (int) LIBC.syscall(SYS_OPENAT2, dirfd, scratch.path(), how, OPEN_HOW_SIZE);
    return fd < 0 ? -errno() : fd;
  }

  private static int lastSlash(byte[] path, int from, int to) {
    for (int i = Math.min(to, path.length) - 1; i > from; i--) {
      if (path[i] == '/') {
        return i;
      }
    }
    return -1;
  }

  /**
   * Counts the pages of an open file that are in the page cache.
   *
   * @return pages, or -1 if the kernel is older than 6.5 and cannot tell
   */
  public static long cachedPages(int fd, long offset, long length) {
    long range = scratch().area();
    long answer = range + CACHESTAT_RANGE_SIZE;
    Memory.putLong(range, offset);
    Memory.putLong(range + 8, length);
    return LIBC.syscall(SYS_CACHESTAT, fd, range, answer, 0) == 0 ? Memory.getLong(answer) : -1;
  }

  /**
   * Tells whether every page of a mapped range is in memory; an access to the range then waits for
   * nobody. Also true if the kernel does not say, as to a process that might not write to the file,
   * or that may not ask.
   */
  public static boolean isInMemory(long address, long length) {
    long vector = scratch().area();
    long end = address + length;
    long at = address / PAGE_SIZE * PAGE_SIZE;
    while (at < end) {
      int pages = (int) Math.min((end - at + PAGE_SIZE - 1) / PAGE_SIZE, Scratch.AREA_CAPACITY);
      if (LIBC.mincore(at, (long) pages * PAGE_SIZE, vector) != 0) {
        return errno() != Errno.ENOMEM.intValue();
      }
      for (int i = 0; i < pages; i++) {
        if ((Memory.getByte(vector + i) & 1) == 0) {
          return false;
        }
      }
      at += (long) pages * PAGE_SIZE;
    }
    return true;
  }

  /**
   * Returns the beginning of a file, without Java I/O: for isolated threads, and for files of /proc
   * that say nothing of their size.
   *
   * @param most bytes
   * @return the bytes; none if the file cannot be read
   */
  public static byte[] head(String path, int most) {
    long text = scratch().path();
    Memory.putString(text, pathBytes(path));
    int fd = LIBC.openat(AT_FDCWD, text, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) {
      return new byte[0];
    }
    long buffer = LIBC.malloc(most);
    int length = 0;
    long count = 1;
    while (buffer != 0 && count > 0 && length < most) {
      count = LIBC.read(fd, buffer + length, most - length);
      length += (int) Math.max(0, count);
    }
    LIBC.close(fd);
    byte[] bytes = length == 0 ? new byte[0] : Memory.bytes(buffer, length);
    LIBC.free(buffer);
    return bytes;
  }

  /**
   * Returns what the first read of a file gives, without Java I/O: all of a small file of {@code
   * /proc}.
   *
   * @param most bytes, at most {@link Scratch#AREA_CAPACITY}
   * @return nothing if the file cannot be read
   */
  static byte[] firstRead(String path, int most) {
    long text = scratch().path();
    Memory.putString(text, pathBytes(path));
    int fd = LIBC.openat(AT_FDCWD, text, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) {
      return new byte[0];
    }
    long area = scratch().area();
    int length = (int) Math.max(0, LIBC.read(fd, area, most));
    LIBC.close(fd);
    return length == 0 ? new byte[0] : Memory.bytes(area, length);
  }

  /**
   * Describes an error number in a few words, for messages. If the number means that a bound was
   * met, also says how to raise it.
   */
  public static String describe(int errno) {
    Errno known = Errno.valueOf(errno);
    if (known == Errno.EMFILE) {
      return "too many open files: raise 'ulimit -n', or LimitNOFILE= of the service";
    }
    if (known == Errno.ENFILE) {
      return "too many open files on this machine: raise the sysctl fs.file-max";
    }
    return known.defined() ? known.description() : "error " + errno;
  }

  /**
   * Turns an error number of a call on the origin or the machine into a failure.
   *
   * @param errno positive
   * @param what the action that failed, for people
   */
  public static FsException failure(int errno, String what) {
    return new FsException(code(errno), what + ": " + describe(errno));
  }

  /** Turns an error number into an {@link FsError}. */
  public static FsError code(int errno) {
    return switch (Errno.valueOf(errno)) {
      case ENOENT -> FsError.NOT_FOUND;
      case ENOTDIR -> FsError.NOT_DIRECTORY;
      case EISDIR -> FsError.IS_DIRECTORY;
      case EACCES -> FsError.ACCESS_DENIED;
      case EPERM -> FsError.NOT_PERMITTED;
      case ENAMETOOLONG -> FsError.NAME_TOO_LONG;
      case ELOOP, EXDEV -> FsError.SYMLINK;
      case EINVAL -> FsError.INVALID;
      case ENODATA -> FsError.NO_ATTRIBUTE;
      case ERANGE -> FsError.RANGE;
      case EOPNOTSUPP, ENOTSUP, ENOSYS -> FsError.UNSUPPORTED;
      case ESTALE -> FsError.STALE;
      case ETIMEDOUT -> FsError.TIMED_OUT;
      case ENOMEM -> FsError.NO_MEMORY;
      default -> FsError.IO;
    };
  }

  /** Returns the bytes of a path of this machine. */
  public static byte[] pathBytes(String path) {
    return path.getBytes(StandardCharsets.UTF_8);
  }

  private static boolean onArm() {
    return System.getProperty("os.arch").equals("aarch64");
  }

  private static int pageSize() {
    return (int) PageManager.getInstance().pageSize();
  }
}
