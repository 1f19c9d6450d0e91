package io.holdfast.fs.mount.jnr;

import jnr.ffi.LibraryLoader;

/**
 * The functions of libfuse 2 beside those that jnr-fuse declares: the parts of fuse_main, so that
 * the requests are received by Java threads and a request's header can be seen, and the
 * notifications. Addresses are plain numbers.
 */
public interface LibFuse2 {
  /** Loads the library; an {@link UnsatisfiedLinkError} says that it is not installed. */
  static LibFuse2 load() {
    return LibraryLoader.create(LibFuse2.class).failImmediately().load("libfuse.so.2");
  }

  /**
   * Mounts and makes a struct fuse of the operations. Returns 0 if it fails; libfuse has written
   * why to stderr. fuse_new is not used: that name without a version leads to the function of
   * libfuse 1.
   */
  long fuse_setup(
      int count,
      long arguments,
      long operations,
      long size,
      long mountpoint,
      long threads,
      long data);

  long fuse_get_session(long fuse);

  long fuse_session_next_chan(long session, long before);

  int fuse_chan_fd(long channel);

  int fuse_chan_recv(long channelAddress, long buffer, long size);

  void fuse_session_process(long session, long buffer, long length, long channel);

  void fuse_unmount(long mountpoint, long channel);

  int fuse_lowlevel_notify_inval_inode(long channel, long inode, long offset, long length);

  int fuse_lowlevel_notify_inval_entry(long channel, long parent, long name, long length);
}
