package io.holdfast.posix;

import static io.holdfast.posix.Libc.LIBC;
import static io.holdfast.posix.Libc.RUNTIME;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.function.LongSupplier;
import jnr.constants.platform.Errno;
import jnr.ffi.LastError;
import jnr.ffi.Memory;
import jnr.ffi.Pointer;

/** System calls with results that tests can compare: values, or the name of the error. */
public final class Posix {
  public static final int O_RDONLY = 0;
  public static final int O_WRONLY = 1;
  public static final int O_RDWR = 2;
  public static final int O_CREAT = 0100;
  public static final int O_TRUNC = 01000;
  public static final int O_APPEND = 02000;
  public static final int O_NONBLOCK = 04000;
  public static final int O_TMPFILE = 020200000;

  public static final int S_IFSOCK = 0140000;
  public static final int S_IFLNK = 0120000;
  public static final int S_IFREG = 0100000;
  public static final int S_IFBLK = 0060000;
  public static final int S_IFDIR = 0040000;
  public static final int S_IFCHR = 0020000;
  public static final int S_IFIFO = 0010000;

  public static final int SIGKILL = 9;
  public static final int SIGSEGV = 11;
  public static final int SIGINT = 2;
  public static final int SIGTERM = 15;
  public static final int SIGCONT = 18;
  public static final int SIGSTOP = 19;

  public static final int AT_FDCWD = -100;
  public static final int AT_SYMLINK_NOFOLLOW = 0x100;

  private static final int AT_EMPTY_PATH = 0x1000;

  public static final int PAGE = 4096;

  private static final int STATX_BASIC_STATS = 0x7ff;
  private static final int PROT_READ = 1;
  private static final int MAP_SHARED = 1;
  private static final int POSIX_FADV_WILLNEED = 3;
  private static final int POSIX_FADV_DONTNEED = 4;
  private static final int F_SETPIPE_SZ = 1031;
  private static final int SPLICE_F_NONBLOCK = 2;
  private static final int DIRENT_LENGTH = 16;
  private static final int DIRENT_TYPE = 18;
  private static final int DIRENT_NAME = 19;

  private Posix() {}

  /** An entry of a directory, as readdir(3) gives it. */
  public record Entry(RawPath name, int type, long inode) {}

  /** The call's result, or the negative error number when it gave -1. */
  public static long call(LongSupplier call) {
    long result = call.getAsLong();
    return result == -1 ? -LastError.getLastError(RUNTIME) : result;
  }

  /** The error's name for a negative result of {@link #call}, else {@code "ok"}. */
  public static String errorName(long result) {
    return result < 0 ? Errno.valueOf(-result).name() : "ok";
  }

  private static long checked(String what, RawPath path, LongSupplier call) throws IOException {
    long result = call(call);
    if (result < 0) {
      throw new IOException(what + " " + path + ": " + errorName(result));
    }
    return result;
  }

  /** Does a call that must succeed. */
  public static void must(String what, RawPath path, LongSupplier call) {
    try {
      checked(what, path, call);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  public static Stat lstat(RawPath path) throws IOException {
    Pointer buffer = Memory.allocateDirect(RUNTIME, Stat.BYTES);
    checked(
        "stat",
        path,
        () -> LIBC.statx(AT_FDCWD, path.cString(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, buffer));
    return Stat.read(buffer);
  }

  /** The result of lstat(2): 0 or a negative error number. */
  public static long tryStat(RawPath path) {
    Pointer buffer = Memory.allocateDirect(RUNTIME, Stat.BYTES);
    return call(
        () -> LIBC.statx(AT_FDCWD, path.cString(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, buffer));
  }

  /** Opens and closes: 0, or the error of the open. */
  public static long tryOpen(RawPath path, int flags) {
    long fd = call(() -> LIBC.open(path.cString(), flags, 0644));
    if (fd >= 0) {
      LIBC.close((int) fd);
      return 0;
    }
    return fd;
  }

  /** All entries but {@code .} and {@code ..}, in the order of their names. */
  public static List<Entry> list(RawPath path) throws IOException {
    Pointer directory = LIBC.opendir(path.cString());
    if (directory == null) {
      throw new IOException("opendir " + path + ": " + errorName(-LastError.getLastError(RUNTIME)));
    }
    List<Entry> entries = new ArrayList<>();
    try {
      for (Pointer dirent = LIBC.readdir(directory);
          dirent != null;
          dirent = LIBC.readdir(directory)) {
        byte[] name = new byte[(dirent.getShort(DIRENT_LENGTH) & 0xffff) - DIRENT_NAME];
        dirent.get(DIRENT_NAME, name, 0, name.length);
        int length = 0;
        while (name[length] != 0) {
          length++;
        }
        RawPath raw = RawPath.of(Arrays.copyOf(name, length));
        if (!raw.toString().equals(".") && !raw.toString().equals("..")) {
          entries.add(new Entry(raw, dirent.getByte(DIRENT_TYPE), dirent.getLong(0)));
        }
      }
    } finally {
      LIBC.closedir(directory);
    }
    entries.sort((a, b) -> a.name().compareTo(b.name()));
    return entries;
  }

  /** 0, or the error of opendir(3). */
  public static long tryOpendir(RawPath path) {
    Pointer directory = LIBC.opendir(path.cString());
    if (directory == null) {
      return -LastError.getLastError(RUNTIME);
    }
    return LIBC.closedir(directory);
  }

  public static RawPath readlink(RawPath path) throws IOException {
    byte[] target = new byte[PAGE];
    long length =
        checked(
            "readlink", path, () -> LIBC.readlink(path.cString(), target, (long) target.length));
    return RawPath.of(Arrays.copyOf(target, (int) length));
  }

  /** The names of the extended attributes, sorted. */
  public static List<String> xattrs(RawPath path) throws IOException {
    byte[] names = new byte[1 << 16];
    long length =
        checked(
            "listxattr", path, () -> LIBC.llistxattr(path.cString(), names, (long) names.length));
    String joined = new String(names, 0, (int) length, UTF_8);
    return joined.isEmpty()
        ? List.of()
        : Arrays.stream(joined.split("\0", -1)).filter(n -> !n.isEmpty()).sorted().toList();
  }

  public static byte[] xattr(RawPath path, String name) throws IOException {
    byte[] value = new byte[1 << 16];
    long length =
        checked(
            "getxattr " + name,
            path,
            () ->
                LIBC.lgetxattr(
                    path.cString(), RawPath.of(name).cString(), value, (long) value.length));
    return Arrays.copyOf(value, (int) length);
  }

  /** Opens a file and gives its descriptor. */
  public static int open(RawPath path, int flags) throws IOException {
    return (int) checked("open", path, () -> LIBC.open(path.cString(), flags, 0));
  }

  public static void close(int fd) {
    LIBC.close(fd);
  }

  /** Returns the result of fstat(2) for an open file. */
  public static Stat fstat(int fd) throws IOException {
    Pointer buffer = Memory.allocateDirect(RUNTIME, Stat.BYTES);
    byte[] empty = RawPath.of("").cString();
    checked(
        "fstat",
        RawPath.of("fd " + fd),
        () -> LIBC.statx(fd, empty, AT_EMPTY_PATH, STATX_BASIC_STATS, buffer));
    return Stat.read(buffer);
  }

  /** Returns the bytes from pread(2), up to the end of the file. */
  public static byte[] pread(RawPath path, long offset, int length) throws IOException {
    int fd = open(path, O_RDONLY);
    try {
      return pread(fd, offset, length);
    } finally {
      close(fd);
    }
  }

  /** The same of an open file. */
  public static byte[] pread(int fd, long offset, int length) throws IOException {
    byte[] bytes = new byte[length];
    int done = 0;
    while (done < length) {
      int at = done;
      byte[] rest = new byte[length - done];
      long n =
          checked(
              "pread",
              RawPath.of("fd " + fd),
              () -> LIBC.pread(fd, rest, (long) rest.length, offset + at));
      if (n == 0) {
        break;
      }
      System.arraycopy(rest, 0, bytes, done, (int) n);
      done += (int) n;
    }
    return Arrays.copyOf(bytes, done);
  }

  /**
   * Writes bytes at an offset of a file, which is made when it is not there; nothing is truncated.
   */
  public static void write(RawPath path, long offset, byte[] bytes) {
    int fd = (int) call(() -> LIBC.open(path.cString(), O_WRONLY | O_CREAT, 0644));
    if (fd < 0) {
      throw new AssertionError("open " + path + ": " + errorName(fd));
    }
    try {
      must("pwrite", path, () -> LIBC.pwrite(fd, bytes, (long) bytes.length, offset));
    } finally {
      LIBC.close(fd);
    }
  }

  /** Creates an empty file. */
  public static void create(RawPath path) {
    long fd = call(() -> LIBC.open(path.cString(), O_WRONLY | O_CREAT, 0644));
    if (fd < 0) {
      throw new AssertionError("create " + path + ": " + errorName(fd));
    }
    LIBC.close((int) fd);
  }

  /** How many of the file's pages the page cache holds. Reads nothing. */
  public static long cachedPages(RawPath path) throws IOException {
    long size = lstat(path).size();
    if (size == 0) {
      return 0;
    }
    Pointer map = map(path, size);
    try {
      byte[] vector = new byte[(int) ((size + PAGE - 1) / PAGE)];
      checked("mincore", path, () -> LIBC.mincore(map, size, vector));
      long pages = 0;
      for (byte b : vector) {
        pages += b & 1;
      }
      return pages;
    } finally {
      LIBC.munmap(map, size);
    }
  }

  /** Drops a file's pages from the page cache, all of which must have been written out. */
  public static void dropPages(RawPath path) throws IOException {
    int fd = open(path, O_RDONLY);
    try {
      LIBC.posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    } finally {
      LIBC.close(fd);
    }
    long left = cachedPages(path);
    if (left > 0) {
      throw new IOException(path + ": " + left + " pages are still in the page cache");
    }
  }

  /** Keeps a file's pages in memory, as an application may; the returned action ends that. */
  public static Runnable hold(RawPath path) throws IOException {
    long size = lstat(path).size();
    Pointer map = map(path, size);
    checked("mlock", path, () -> LIBC.mlock(map, size));
    return () -> LIBC.munmap(map, size);
  }

  /**
   * Keeps the kernel from reclaiming these files' pages, as pipes refer to them. A pipe does not
   * keep the kernel from forgetting a file with its pages, which an open file does. The returned
   * action closes the pipes.
   */
  public static Runnable holdPages(Collection<RawPath> paths) throws IOException {
    List<int[]> pipes = new ArrayList<>();
    Runnable release = () -> pipes.forEach(Posix::closePipe);
    boolean held = false;
    try {
      pipes.add(pipe());
      for (RawPath path : paths) {
        splice(path, pipes);
      }
      held = true;
      return release;
    } finally {
      if (!held) {
        release.run();
      }
    }
  }

  /** A pipe of the size that each user may have. */
  private static int[] pipe() throws IOException {
    int[] ends = new int[2];
    RawPath name = RawPath.of("a pipe");
    checked("open", name, () -> LIBC.pipe(ends));
    try {
      checked("enlarge", name, () -> LIBC.fcntl(ends[1], F_SETPIPE_SZ, 1 << 20));
    } catch (IOException e) {
      closePipe(ends);
      throw e;
    }
    return ends;
  }

  private static void closePipe(int[] ends) {
    LIBC.close(ends[0]);
    LIBC.close(ends[1]);
  }

  private static void splice(RawPath path, List<int[]> pipes) throws IOException {
    int fd = open(path, O_RDONLY);
    try {
      long spliced;
      do {
        int pipe = pipes.get(pipes.size() - 1)[1];
        spliced =
            call(() -> LIBC.splice(fd, null, pipe, null, Integer.MAX_VALUE, SPLICE_F_NONBLOCK));
        if (spliced == -Errno.EAGAIN.longValue()) {
          pipes.add(pipe());
        } else if (spliced < 0) {
          throw new IOException("splice " + path + ": " + errorName(spliced));
        }
      } while (spliced != 0);
    } finally {
      LIBC.close(fd);
    }
  }

  /** Has the kernel ask for a file, a piece at a time and all at once; does not wait for it. */
  public static void willNeed(RawPath path, long piece) throws IOException {
    long size = lstat(path).size();
    int fd = open(path, O_RDONLY);
    try {
      for (long at = 0; at < size; at += piece) {
        LIBC.posix_fadvise(fd, at, piece, POSIX_FADV_WILLNEED);
      }
    } finally {
      LIBC.close(fd);
    }
  }

  /** Tells whether the rest of a file's last page is zero for a program that maps it. */
  public static boolean isZeroBehindItsEnd(RawPath path) throws IOException {
    long size = lstat(path).size();
    long end = (size + PAGE - 1) / PAGE * PAGE;
    Pointer map = map(path, size);
    try {
      for (long at = size; at < end; at++) {
        if (map.getByte(at) != 0) {
          return false;
        }
      }
      return true;
    } finally {
      LIBC.munmap(map, size);
    }
  }

  private static Pointer map(RawPath path, long size) throws IOException {
    int fd = (int) checked("open", path, () -> LIBC.open(path.cString(), O_RDONLY, 0));
    try {
      Pointer map = LIBC.mmap(null, size, PROT_READ, MAP_SHARED, fd, 0);
      if (map == null || map.address() == -1) {
        throw new IOException("mmap " + path + ": " + errorName(-LastError.getLastError(RUNTIME)));
      }
      return map;
    } finally {
      LIBC.close(fd);
    }
  }

  /** Sends a signal to one process. */
  public static void kill(long pid, int signal) {
    if (pid <= 1) {
      throw new IllegalArgumentException("no process of ours: " + pid);
    }
    LIBC.kill((int) pid, signal);
  }

  /** Sends a signal to a process group. */
  public static void killGroup(long leader, int signal) {
    if (leader <= 1) {
      throw new IllegalArgumentException("no group of ours: " + leader);
    }
    LIBC.kill((int) -leader, signal);
  }
}
