package io.holdfast.fs.linux;

import jnr.ffi.LibraryLoader;
import jnr.ffi.Pointer;

/**
 * The C library's functions that Holdfast calls, with plain addresses instead of buffer objects.
 * Every function behaves as its manual page says; {@link Linux#errno()} has the error of the
 * calling thread's last call.
 *
 * <p>Structures are drawn where they are used, with named offsets. Only layouts that are the same
 * on x86-64 and arm64 are used (statx instead of stat).
 */
public interface Libc {
  /** The C library of this process. */
  Libc LIBC = LibraryLoader.create(Libc.class).load("c");

  long syscall(long number, long a, long b, long c, long d);

  long syscall(long number, long a, long b, long c, long d, long e, long f);

  int openat(int dirfd, long path, int flags, int mode);

  int close(int fd);

  long pread(int fd, long buffer, long length, long offset);

  long pwrite(int fd, long buffer, long length, long offset);

  long read(int fd, long buffer, long length);

  long write(int fd, long buffer, long length);

  int statx(int dirfd, long path, int flags, int mask, long buffer);

  int name_to_handle_at(int dirfd, long path, long handle, long mountId, int flags);

  int fstatvfs(int fd, long buffer);

  long clock();

  int fstatfs(int fd, long buffer);

  long getdents64(int fd, long buffer, long length);

  long readlinkat(int dirfd, long path, long buffer, long length);

  long getxattr(long path, long name, long value, long size);

  long lgetxattr(long path, long name, long value, long size);

  long listxattr(long path, long list, long size);

  long llistxattr(long path, long list, long size);

  int mkdirat(int dirfd, long path, int mode);

  int mknodat(int dirfd, long path, int mode, long device);

  int symlinkat(long target, int dirfd, long path);

  int linkat(int fromDirfd, long from, int toDirfd, long to, int flags);

  int unlinkat(int dirfd, long path, int flags);

  int renameat2(int fromDirfd, long from, int toDirfd, long to, int flags);

  int fchmod(int fd, int mode);

  int fchmodat(int dirfd, long path, int mode, int flags);

  int fchownat(int dirfd, long path, int uid, int gid, int flags);

  int utimensat(int dirfd, long path, long times, int flags);

  int lsetxattr(long path, long name, long value, long size, int flags);

  int lremovexattr(long path, long name);

  int fsync(int fd);

  int fdatasync(int fd);

  int syncfs(int fd);

  int flock(int fd, int operation);

  int posix_fadvise(int fd, long offset, long length, int advice);

  /**
   * Takes and gives a {@link Pointer}: declared with {@code long} jnr-ffi 2.2.17 fails with EINVAL
   * before any system call.
   */
  Pointer mmap(Pointer hint, long length, int protection, int flags, int fd, long offset);

  int munmap(long address, long length);

  int mprotect(long address, long length, int protection);

  int mlock(long address, long length);

  int madvise(long address, long length, int advice);

  int mincore(long address, long length, long vector);

  int ftruncate(int fd, long length);

  long lseek(int fd, long offset, int from);

  int fallocate(int fd, int mode, long offset, long length);

  int memfd_create(long name, int flags);

  long malloc(long size);

  void free(long address);

  int unshare(int flags);

  int gettid();

  int getppid();

  int kill(int pid, int signal);

  /** Returns the handler before, or -1. */
  long signal(int signal, long handler);

  int setpriority(int which, int who, int priority);

  int execvp(long file, long words);

  int setenv(long name, long value, int overwrite);

  int unsetenv(long name);

  int prctl(int option, long a, long b, long c, long d);

  /** Returns the error number itself. */
  int pthread_sigmask(int how, long set, long before);

  int dup2(int from, int to);

  int fcntl(int fd, int command, int argument);

  int ioctl(int fd, long request, long argument);

  long readv(int fd, long vectors, int count);

  long writev(int fd, long vectors, int count);

  int mount(long source, long target, long type, long flags, long data);

  int umount2(long target, int flags);

  int poll(long descriptors, long count, int timeoutMillis);

  int fanotify_init(int flags, int eventFlags);

  int fanotify_mark(int fd, int flags, long mask, int dirfd, long path);

  int getrlimit(int resource, long limits);

  int setrlimit(int resource, long limits);

  int socket(int domain, int type, int protocol);

  int connect(int fd, long address, int length);
}
