package io.holdfast.fs.mount;

/**
 * What the core asks of a binding so that the kernel does not go on showing what is no longer true.
 * Thread-safe.
 */
public interface KernelView {
  /**
   * Parts a name from the node that it led to. When this returns, the name leads the kernel to
   * another inode the next time it looks, and no reply that showed the old node under the name is
   * still on its way; descriptors that are open keep the old inode. May be called while a lookup of
   * the same name is being answered; waits for a short and bounded time.
   */
  void replace(long parent, byte[] name, long node);

  /**
   * Makes the kernel look a name up again before it uses it. Not to be called while a request about
   * the name, or its directory, waits for the caller.
   */
  void expire(long parent, byte[] name);

  /**
   * Drops what the kernel has of a file's content, also pages that are mapped and locked. May wait
   * for a request about the file to be answered, so not to be called by a thread that answers
   * requests; and for a bounded time only, so that it may go on after this has returned.
   *
   * @param over called once the kernel has dropped them, or will not; on any thread
   */
  void dropPages(long node, Runnable over);

  /** Makes the kernel ask for the attributes of a directory before it shows them again. */
  void expireDirectory(long node);
}
