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
 * What a binding calls: a read-only filesystem by node. A node's id is never used for another
 * entry, and an entry whose content changes becomes another node; the old one answers STALE from
 * then on.
 *
 * <p>Thread-safe. All methods but {@link #read} answer before they return; each of them is bounded
 * in time by the origin's deadline. A binding decodes, calls, maps the outcome to an errno, and
 * replies; it takes no decision.
 */
public interface Filesystem {
  /** The id of the root. */
  long ROOT = Tree.ROOT;

  /**
   * An entry that a name leads to.
   *
   * @param node its id
   * @param attributes what stat says of it
   */
  record Entry(long node, Attributes attributes) {}

  /**
   * Learns that the kernel decides by access control lists, for which it asks as for extended
   * attributes; to be called before it asks for anything else. Until then, the attributes of what
   * has such a list have a mode that gives nobody more than the list does.
   */
  void kernelDecidesByAcls();

  /** Finds out what a name leads to now. */
  Entry lookup(long parent, byte[] name) throws FsException;

  /** Returns what a name was last found to lead to, without asking the origin, or null. */
  @Nullable Entry known(long parent, byte[] name);

  /** Returns the attributes of a node. */
  Attributes attributes(long node) throws FsException;

  /**
   * Returns the target of a symlink.
   *
   * @param thread who asks; 0 where that is unknown
   * @param uid the user for whom the kernel asks
   */
  byte[] readLink(long node, int thread, int uid) throws FsException;

  /** Tells whether a node still is what its name leads to. */
  boolean isCurrent(long node);

  /**
   * Returns how long what is said of the names in a directory may be believed: what was said
   * between two calls, for the shorter of both answers.
   */
  Duration believeNames(long directory);

  /** The same of the attributes of a node. */
  Duration believeAttributes(long node);

  /**
   * Passes entries of a directory, without {@code .} and {@code ..}, for as long as they are taken.
   * Of a directory that has gone it fails with STALE: by NOT_FOUND, glibc's readdir takes it for an
   * empty one.
   *
   * @param after the place of the last entry that was taken, or 0 to begin
   * @param looks told the type of an entry, tells whether to find out what it leads to; called for
   *     each entry just before that is passed
   */
  void list(long directory, long after, IntPredicate looks, ListSink sink) throws FsException;

  /** Takes the entries of a directory. */
  @FunctionalInterface
  interface ListSink {
    /** Takes an entry; returns false where it has no room for it. */
    boolean take(ListedEntry entry);
  }

  /**
   * Reads from a file. The reply is called once, now or later, from any thread; with no bytes at or
   * beyond the end of the file.
   *
   * @param thread id of the kernel thread that reads, or 0 where it is unknown
   */
  void read(long node, long offset, int length, int thread, ReadReply reply);

  /** Learns that a file was opened, from a binding that is asked about every open. */
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
