package io.holdfast.fs.mount;

import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;

/**
 * The nodes of the control directory, which is in the root of a mount and never listed there. Their
 * numbers begin with 0 and are apart from those of the dataset's nodes.
 */
public interface ControlNodes {
  /** The directory's name in the root of the mount. */
  String NAME = ".holdfast";

  /** The node of the directory itself. */
  long DIRECTORY = 0;

  /**
   * The reader of a link.
   *
   * @param thread 0 if it is unknown
   * @param uid the user, as the kernel checks accesses
   */
  record Asker(int thread, int uid) {}

  /** Takes the entries of the directory. */
  @FunctionalInterface
  interface NameSink {
    /** Takes a name, with the type and the inode number of the entry. */
    void entry(byte[] name, int type, long inode);
  }

  /** Returns the node that a name leads to. */
  long lookup(long parent, byte[] name) throws FsException;

  /** Returns the attributes of a node. */
  Attributes attributes(long node) throws FsException;

  /** Returns the target of a link. */
  byte[] readLink(long node, Asker asker) throws FsException;

  /** Passes the names of the control files. */
  void list(long node, NameSink sink) throws FsException;

  /** Returns the content of a regular file; the caller does not change it. */
  byte[] content(long node) throws FsException;
}
