package io.holdfast.posix;

import jnr.ffi.LibraryLoader;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import jnr.ffi.annotations.In;
import jnr.ffi.annotations.Out;

/**
 * The C library's functions that the tests call. Names are NUL-terminated bytes, so that any name
 * can be tried. {@link Posix#call} turns a result into a negative error number.
 */
public interface Libc {
  Libc LIBC = LibraryLoader.create(Libc.class).load("c");
  Runtime RUNTIME = Runtime.getRuntime(LIBC);

  int open(@In byte[] path, int flags, int mode);

  /** For measurements: nothing is copied or converted on the way. */
  int open(long path, int flags, int mode);

  int close(int fd);

  long pread(int fd, long buffer, long length, long offset);

  long pread(int fd, @Out byte[] buffer, long length, long offset);

  long pwrite(int fd, @In byte[] buffer, long length, long offset);

  int statx(int dirfd, @In byte[] path, int flags, int mask, Pointer buffer);

  int fstat(int fd, long buffer);

  long read(int fd, long buffer, long length);

  long malloc(long length);

  void free(long address);

  int statvfs(@In byte[] path, Pointer buffer);

  Pointer opendir(@In byte[] path);

  Pointer readdir(Pointer directory);

  int closedir(Pointer directory);

  long readlink(@In byte[] path, @Out byte[] target, long size);

  long llistxattr(@In byte[] path, @Out byte[] list, long size);

  long lgetxattr(@In byte[] path, @In byte[] name, @Out byte[] value, long size);

  int lsetxattr(@In byte[] path, @In byte[] name, @In byte[] value, long size, int flags);

  int lremovexattr(@In byte[] path, @In byte[] name);

  int unlink(@In byte[] path);

  int mkdir(@In byte[] path, int mode);

  int rmdir(@In byte[] path);

  int rename(@In byte[] from, @In byte[] to);

  int link(@In byte[] from, @In byte[] to);

  int symlink(@In byte[] target, @In byte[] path);

  int mknod(@In byte[] path, int mode, long device);

  int chmod(@In byte[] path, int mode);

  int lchown(@In byte[] path, int owner, int group);

  int truncate(@In byte[] path, long size);

  int ftruncate(int fd, long size);

  int utimensat(int dirfd, @In byte[] path, @In byte[] times, int flags);

  int access(@In byte[] path, int mode);

  /**
   * Declared with {@code long} addresses jnr-ffi 2.2.17 fails with EINVAL before any system call.
   */
  Pointer mmap(Pointer hint, long length, int protection, int flags, int fd, long offset);

  int munmap(Pointer address, long length);

  int pipe(@Out int[] ends);

  int fcntl(int fd, int command, int argument);

  long splice(int from, Pointer fromOffset, int to, Pointer toOffset, long length, int flags);

  int mlock(Pointer address, long length);

  int posix_fadvise(int fd, long offset, long length, int advice);

  int mincore(Pointer address, long length, @Out byte[] vector);

  int kill(int pid, int signal);
}
