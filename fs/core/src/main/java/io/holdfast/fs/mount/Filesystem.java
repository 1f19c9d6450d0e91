package io.holdfast.fs.mount;

import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.StoreFigures;
import io.holdfast.fs.tree.Tree;
import java.time.Duration;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A read-only filesystem by node, which a binding calls. A node's id is never used for another
 * entry. An entry whose content changes becomes another node; the old node answers STALE from then
 * on.
 *
 * <p>Thread-safe. All methods but {@link #read} answer before they return. The origin's deadline
 * bounds each of them. A binding decodes, calls, maps the outcome to an errno, and replies; it
 * takes no decision.
 */
public interface Filesystem {
  /** The id of the root. */
  long ROOT = Tree.ROOT;

  /**
   * An entry that a name leads to.
   *
   * @param node its id
   * @param attributes its attributes, as stat shows them
   */
  record Entry(long node, Attributes attributes) {}

  /**
   * Learns that the kernel decides by access control lists, which it reads as extended attributes.
   * To be called before the kernel asks for anything else. Until then, the attributes of an entry
   * with such a list have a mode that gives nobody more than the list does.
   */
  void kernelDecidesByAcls();

  /**
   * Finds out which node a name leads to now.
   *
   * @throws FsException STALE also if the user may not pass the directory, whose rights have just
   *     changed: the kernel then decides again
   */
  Entry lookup(long parent, byte[] name, Asker asker) throws FsException;

  /** Returns the node that a name was last found to lead to, without asking the origin; or null. */
  @Nullable Entry known(long parent, byte[] name);

  /** Returns the attributes of a node. */
  Attributes attributes(long node) throws FsException;

  /**
   * Returns the target of a symlink.
   *
   * @param thread the thread that asks; 0 if it is unknown
   * @param uid the user for whom the kernel asks
   */
  byte[] readLink(long node, int thread, int uid) throws FsException;

  /** Tells whether a node's name still leads to it. */
  boolean isCurrent(long node);

  /**
   * Returns how long the kernel may believe an answer about names of a directory. An answer that
   * was made between two calls may be believed for the shorter of both times.
   */
  Duration believeNames(long directory);

  /** Returns the same for the attributes of a node. */
  Duration believeAttributes(long node);

  /**
   * Passes entries of a directory, without {@code .} and {@code ..}, for as long as the sink takes
   * them. Fails with STALE if the directory has gone: after NOT_FOUND, glibc's readdir would take
   * the directory for an empty one.
   *
   * @param after the place of the last entry that was taken, or 0 to begin
   * @param looks takes the type of an entry, and tells whether to find out what the entry leads to;
   *     called for each entry just before it is passed
   */
  void list(long directory, long after, IntPredicate looks, ListSink sink) throws FsException;

  /** Takes the entries of a directory. */
  @FunctionalInterface
  interface ListSink {
    /** Takes an entry; returns false if it has no room for it. */
    boolean take(ListedEntry entry);
  }

  /**
   * Reads from a file. The reply is called once, now or later, from any thread. At or beyond the
   * end of the file it gets no bytes.
   *
   * @param thread the kernel's id of the thread that reads, or 0 if it is unknown
   */
  void read(long node, long offset, int length, int thread, ReadReply reply);

  /** Learns from a binding that answers every open that a file was opened. */
  void opened(long node, int thread);

  /** Returns the value of an extended attribute. */
  byte[] extendedAttribute(long node, byte[] name) throws FsException;

  /**
   * Returns the names of the extended attributes that a user may see, each followed by a NUL.
   *
   * @param uid the user for whom the kernel asks
   */
  byte[] extendedAttributeNames(long node, int uid) throws FsException;

  /** Returns the figures of the store. */
  StoreFigures figures() throws FsException;
}
