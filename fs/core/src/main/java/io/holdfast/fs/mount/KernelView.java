package io.holdfast.fs.mount;

import java.util.OptionalLong;
import java.util.function.LongPredicate;

/** The kernel's view of the dataset, which the core ends where it is out of date. Thread-safe. */
public interface KernelView {
  /**
   * Parts a name from the node that it led to. From then on, the next lookup of the name leads the
   * kernel to another inode; open descriptors keep the old inode. May be called while a lookup of
   * the same name is being answered. Waits for a short and bounded time.
   *
   * @return true if no reply that shows the old node under the name is still on its way
   */
  boolean replace(long parent, byte[] name, long node);

  /**
   * Has the kernel look a name up again before it uses it. Waits for a bounded time until the
   * kernel knows: see {@link #inVain}. Not to be called while a request about the name, or its
   * directory, waits for the caller.
   */
  void expire(long parent, byte[] name);

  /**
   * Has the kernel ask for the attributes of a file before it shows them again. The kernel keeps
   * the file's pages, if the binding can do it so. Not to be called while a request about the name,
   * or its directory, waits for the caller.
   *
   * @param parent the directory that has the file's name
   */
  void expireAttributes(long parent, byte[] name, long node);

  /**
   * Tells whether the kernel knows a file, and so may have pages of its content. If the kernel
   * knows it, it asks for the attributes again before it shows them. Returns false where the
   * binding cannot tell; no daemon takes over the mount of such a binding.
   */
  boolean mayKnow(long node);

  /**
   * Returns a wait for the replies to all requests that show entries and are under way now. A
   * thread that answers requests must not wait.
   */
  Earlier earlierReplies();

  /** A wait for what was under way when the wait was made, whatever has begun since. */
  @FunctionalInterface
  interface Earlier {
    /**
     * Waits for a bounded time. May be called again, and then goes on.
     *
     * @return whether all of it has ended
     */
    boolean await();
  }

  /**
   * Has the kernel ask for the attributes of a directory before it decides by them who may enter.
   * Does not wait, so a thread that answers requests may call it.
   */
  void expireRights(long directory);

  /**
   * Has the kernel ask for the attributes and the listing of a directory before it shows them
   * again. Waits for a bounded time until the kernel knows: see {@link #inVain}.
   */
  void expireDirectory(long node);

  /**
   * Returns a directory of which the kernel does not know something yet, although a call has waited
   * for that: somebody uses the directory. The kernel will know once the directory is free.
   *
   * @param directories tells which directories matter
   */
  OptionalLong inVain(LongPredicate directories);
}
