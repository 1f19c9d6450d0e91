package io.holdfast.fs.origin.posix;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import jnr.constants.platform.Errno;

/** The two ways to name an entry whose ACL {@link StoreAcls} reads. Used by one thread. */
final class AskedEntry {
  /** The system call getxattrat, from Linux 6.13. */
  private static final long SYS_GETXATTRAT = 464;

  /** struct xattr_args: value u64, size u32, flags u32; behind the name in the scratch path. */
  private static final int XATTR_ARGS = 1024;

  private static final int XATTR_ARGS_SIZE = 16;

  private static volatile boolean hasGetxattrat = true;

  private AskedEntry() {}

  /** Returns the entry of an open O_PATH descriptor. */
  static StoreAcls.Entry of(int fd) {
    return new StoreAcls.Entry() {
      @Override
      public int stat() {
        return Statx.call(fd);
      }

      @Override
      public long read(long name, long value, int size) {
        return answer(LIBC.getxattr(procPath(fd, new byte[0]), name, value, size));
      }

      @Override
      public long names(long list, int size) {
        return answer(LIBC.listxattr(procPath(fd, new byte[0]), list, size));
      }
    };
  }

  /** Returns an entry of an open directory; for a symlink, the link itself. */
  static StoreAcls.Entry of(int directory, byte[] entry) {
    return new StoreAcls.Entry() {
      @Override
      public int stat() {
        return Statx.call(directory, entry);
      }

      @Override
      public long read(long name, long value, int size) {
        if (hasGetxattrat) {
          long path = Linux.scratch().path();
          Memory.putString(path, entry);
          long args = path + XATTR_ARGS;
          Memory.putLong(args, value);
          Memory.putInt(args + 8, size);
          Memory.putInt(args + 12, 0);
          long length =
              answer(
                  LIBC.syscall(
                      SYS_GETXATTRAT,
                      directory,
                      path,
                      Linux.AT_SYMLINK_NOFOLLOW,
                      name,
                      args,
                      XATTR_ARGS_SIZE));
          if (length != -Errno.ENOSYS.intValue()) {
            return length;
          }
          hasGetxattrat = false;
        }
        return answer(LIBC.lgetxattr(procPath(directory, entry), name, value, size));
      }

      @Override
      public long names(long list, int size) {
        return answer(LIBC.llistxattr(procPath(directory, entry), list, size));
      }
    };
  }

  private static long answer(long result) {
    return result < 0 ? -Linux.errno() : result;
  }

  /** Writes the name in /proc of a descriptor, or of an entry in it, to the scratch path. */
  private static long procPath(int fd, byte[] entry) {
    byte[] descriptor = Linux.pathBytes("/proc/self/fd/" + fd);
    long path = Linux.scratch().path();
    Memory.putString(path, descriptor);
    if (entry.length > 0) {
      Memory.putByte(path + descriptor.length, '/');
      Memory.putString(path + descriptor.length + 1, entry);
    }
    return path;
  }
}
