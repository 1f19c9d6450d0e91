package io.holdfast.fs.mount;

/**
 * What the core asks of a binding so that the kernel does not go on showing what is no longer true.
 * Thread-safe.
 */
public interface KernelView {
  /**
   * Parts a name from the node that it led to. When this returns, the name leads the kernel to
   * another inode the next time it looks; descriptors that are open keep the old inode. May be
   * called while a lookup of the same name is being answered; waits for a short and bounded time.
   *
   * @return whether no reply that shows the old node under the name is still on its way
   */
  boolean replace(long parent, byte[] name, long node);

  /**
   * Makes the kernel look a name up again before it uses it. Not to be called while a request about
   * the name, or its directory, waits for the caller.
   */
  void expire(long parent, byte[] name);

  /**
   * Makes the kernel ask for the attributes of a file before it shows them again; what it has of
   * the content stays where the binding can have it so. Not to be called while a request about the
   * name, or its directory, waits for the caller.
   *
   * @param parent where the file has its name
   */
  void expireAttributes(long parent, byte[] name, long node);

  /**
   * Tells whether the kernel knows a file, and so may have pages of its content. Where it does, it
   * asks for the attributes again before it shows them. May wait, for a bounded time, so not to be
   * called by a thread that answers requests; where it has waited in vain the kernel may know it.
   */
  boolean mayKnow(long node);

  /**
   * Waits, for a bounded time, until no reply that shows an entry is on its way to a request that
   * had begun before. Not to be called by a thread that answers requests.
   *
   * @return whether it is so
   */
  boolean awaitReplies();

  /**
   * Makes the kernel ask for the attributes of a directory before it lets anybody through by them.
   * Does not wait, and so may be called by a thread that answers requests.
   */
  void expireRights(long directory);

  /** Makes the kernel ask for the attributes of a directory before it shows them again. */
  void expireDirectory(long node);
}
