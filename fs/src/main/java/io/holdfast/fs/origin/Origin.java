package io.holdfast.fs.origin;

import io.holdfast.fs.FsException;
import org.jspecify.annotations.Nullable;

/**
 * The authoritative store of a dataset, read only. Paths are relative to its root; no call ever
 * leaves the root or follows a symlink, whatever the path says.
 *
 * <p>Thread-safe. Calls block until the store answers, which a hanging network filesystem may never
 * do: see {@link #mayHang()}. A failure is a {@link FsException} with the domain's code; the
 * message names the entry.
 */
public interface Origin extends AutoCloseable {
  /** Returns the origin's name for people and for the mount table. */
  String describe();

  /**
   * Tells whether a call may block without a bound, as on a network filesystem whose server is
   * gone. Where it may, callers run the calls on threads that they can give up.
   */
  boolean mayHang();

  /** Returns the attributes of an entry; of a symlink, its own. */
  Attributes stat(OriginPath path) throws FsException;

  /** Returns the target of a symlink, as it is stored. */
  byte[] readLink(OriginPath path) throws FsException;

  /** Passes each entry of a directory, without {@code .} and {@code ..}, in the store's order. */
  void list(OriginPath path, EntrySink sink) throws FsException;

  /**
   * The same with the attributes of each entry, which many stores have at hand in a listing. An
   * entry whose attributes cannot be had comes without them.
   */
  void listWithAttributes(OriginPath path, AttributesSink sink) throws FsException;

  /** Opens a regular file for reading. */
  OriginFile open(OriginPath path) throws FsException;

  /** Returns the value of an extended attribute. */
  byte[] extendedAttribute(OriginPath path, byte[] name) throws FsException;

  /** Returns the names of the extended attributes, each followed by a NUL. */
  byte[] extendedAttributeNames(OriginPath path) throws FsException;

  /** Returns the figures of the store that holds the dataset. */
  StoreFigures figures() throws FsException;

  @Override
  void close();

  /** Takes the entries of a directory with their attributes. */
  @FunctionalInterface
  interface AttributesSink {
    /**
     * Takes an entry.
     *
     * @param name its name, without slash
     * @param type as {@link EntrySink} takes it
     * @param inode its inode number
     * @param attributes those of a symlink itself; null where they cannot be had
     */
    void entry(byte[] name, int type, long inode, @Nullable Attributes attributes);
  }

  /** Takes the entries of a directory one by one. */
  @FunctionalInterface
  interface EntrySink {
    /**
     * Takes an entry.
     *
     * @param name its name, without slash
     * @param type its type as in {@link Attributes#type()}, or 0 where the store does not say
     * @param inode its inode number
     */
    void entry(byte[] name, int type, long inode);
  }
}
