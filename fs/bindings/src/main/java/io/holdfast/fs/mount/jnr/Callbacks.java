package io.holdfast.fs.mount.jnr;

import jnr.ffi.annotations.Delegate;

/**
 * The operations of libfuse 2 that are answered, with plain addresses. jnr-fuse declares them with
 * paths of type String, which cannot hold a name that is no valid text, and with objects that cost
 * more than the call.
 */
final class Callbacks {
  private Callbacks() {}

  /** init: takes struct fuse_conn_info, returns the private data. */
  public interface Init {
    @Delegate
    long call(long connection);
  }

  /** getattr, statfs. */
  public interface Stat {
    @Delegate
    int call(long path, long buffer);
  }

  /** readlink, listxattr. */
  public interface Fill {
    @Delegate
    int call(long path, long buffer, long size);
  }

  /** read. */
  public interface Read {
    @Delegate
    int call(long path, long buffer, long size, long offset, long fileInfo);
  }

  /** readdir. */
  public interface ReadDirectory {
    @Delegate
    int call(long path, long buffer, long filler, long offset, long fileInfo);
  }

  /** open. */
  public interface Open {
    @Delegate
    int call(long path, long fileInfo);
  }

  /** unlink. */
  public interface Unlink {
    @Delegate
    int call(long path);
  }

  /** getxattr. */
  public interface GetXattr {
    @Delegate
    int call(long path, long name, long value, long size);
  }
}
