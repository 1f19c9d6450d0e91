package io.holdfast.fs.linux;

import static io.holdfast.fs.linux.Libc.LIBC;

import java.util.Arrays;
import jnr.ffi.LibraryLoader;

/** Creates what Java's own file calls cannot: names of any bytes, deep paths, FIFOs. */
public final class NativeFiles {
  /** Type bits of a FIFO. */
  public static final int FIFO = 0x1000;

  private static final int O_WRONLY = 1;
  private static final int O_CREAT = 0x40;
  private static final int O_TRUNC = 0x200;
  private static final Calls CALLS = LibraryLoader.create(Calls.class).load("c");

  private NativeFiles() {}

  /** Functions of the C library that only tests need. */
  public interface Calls {
    int mkdirat(int dirfd, long path, int mode);

    int mknodat(int dirfd, long path, int mode, long device);

    int symlinkat(long target, int dirfd, long path);

    int setxattr(long path, long name, long value, long size, int flags);

    int setfsuid(int uid);
  }

  /** An action at the end of a path. */
  @FunctionalInterface
  private interface Step {
    int apply(int dirfd, long name);
  }

  /** Makes this thread, and no other, meet the filesystem as another user. */
  public static void becomeForFiles(int uid) {
    CALLS.setfsuid(uid);
  }

  /** Writes a file; its directories are made as needed. */
  public static void file(String root, byte[] path, byte[] content) {
    int fd =
        at(
            root,
            path,
            (dirfd, name) -> LIBC.openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC, 0644));
    long memory = LIBC.malloc(content.length + 1L);
    Memory.put(memory, content, 0, content.length);
    for (int done = 0; done < content.length; ) {
      done += (int) check(LIBC.write(fd, memory + done, content.length - done));
    }
    LIBC.free(memory);
    LIBC.close(fd);
  }

  /** Makes a directory, and those above it as needed. */
  public static void directory(String root, byte[] path) {
    at(root, path, (dirfd, name) -> CALLS.mkdirat(dirfd, name, 0755));
  }

  /** Makes a FIFO. */
  public static void fifo(String root, byte[] path) {
    at(root, path, (dirfd, name) -> CALLS.mknodat(dirfd, name, FIFO | 0644, 0));
  }

  /** Makes a symlink. */
  public static void symlink(String root, byte[] path, byte[] target) {
    long text = string(target);
    at(root, path, (dirfd, name) -> CALLS.symlinkat(text, dirfd, name));
    LIBC.free(text);
  }

  /** Sets an extended attribute; returns false where the filesystem has none. */
  public static boolean attribute(String path, String name, byte[] value) {
    long pathText = string(Linux.pathBytes(path));
    long nameText = string(Linux.pathBytes(name));
    long memory = string(value);
    int result = CALLS.setxattr(pathText, nameText, memory, value.length, 0);
    LIBC.free(pathText);
    LIBC.free(nameText);
    LIBC.free(memory);
    return result == 0;
  }

  private static int at(String root, byte[] path, Step last) {
    int directory = walk(Linux.AT_FDCWD, Linux.pathBytes(root));
    int from = 0;
    for (int i = 0; i < path.length; i++) {
      if (path[i] == '/') {
        byte[] name = Arrays.copyOfRange(path, from, i);
        long text = string(name);
        CALLS.mkdirat(directory, text, 0755); // it may be there
        LIBC.free(text);
        int next = walk(directory, name);
        LIBC.close(directory);
        directory = next;
        from = i + 1;
      }
    }
    long text = string(Arrays.copyOfRange(path, from, path.length));
    int result = (int) check(last.apply(directory, text));
    LIBC.free(text);
    LIBC.close(directory);
    return result;
  }

  private static int walk(int directory, byte[] name) {
    long text = string(name);
    int flags = Linux.O_PATH | Linux.O_DIRECTORY | Linux.O_CLOEXEC;
    int fd = (int) check(LIBC.openat(directory, text, flags, 0));
    LIBC.free(text);
    return fd;
  }

  private static long string(byte[] bytes) {
    long memory = LIBC.malloc(bytes.length + 1L);
    Memory.putString(memory, bytes);
    return memory;
  }

  private static long check(long result) {
    if (result < 0) {
      throw new IllegalStateException(Linux.describe(Linux.errno()));
    }
    return result;
  }
}
