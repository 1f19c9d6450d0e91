package io.holdfast.fs.origin;

import io.holdfast.fs.FsException;
import java.util.List;
import java.util.concurrent.Executor;
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
   * Returns what tells this dataset from any other, also from one that was at the same place
   * before: a line that stays the same when it is opened again.
   */
  default String identity() throws FsException {
    return describe();
  }

  /**
   * Tells whether a call may block without a bound, as on a network filesystem whose server is
   * gone. Where it may, callers run the calls on threads that they can give up.
   */
  boolean mayHang();

  /**
   * Has the store itself answer something small, which no cache on the way can.
   *
   * @throws FsException where it does not
   */
  default void probe() throws FsException {
    figures();
  }

  /** Returns whether the store answers, as far as that is known. Does not block. */
  default OriginHealth health() {
    return OriginHealth.WELL;
  }

  /** Finds out whether the store answers; to be called once a second. Does not block. */
  default void watch() {}

  /** Returns the attributes of an entry; of a symlink, its own. */
  Attributes stat(OriginPath path) throws FsException;

  /** Returns the target of a symlink, as it is stored. */
  byte[] readLink(OriginPath path) throws FsException;

  /**
   * Passes each entry of a directory, without {@code .} and {@code ..}, in the store's order, with
   * its attributes, which many stores have at hand in a listing. An entry whose attributes cannot
   * be had comes without them.
   */
  void list(OriginPath path, EntrySink sink) throws FsException;

  /**
   * Opens a regular file to read a part of it.
   *
   * @param part what will be read, from its first byte to its last; a store where each request
   *     takes long may begin to bring it at once
   * @throws FsException as the store says; STALE where it knows at once that the content is of
   *     another version
   */
  OriginFile open(OriginPath path, Part part) throws FsException;

  /**
   * A part of one version of a file's content.
   *
   * @param version the content
   * @param offset first byte
   * @param length bytes; what is beyond the end of the content is not there
   */
  record Part(Version version, long offset, int length) {}

  /**
   * Passes everything that is below a directory, each entry once with its attributes, a directory
   * before what is in it. Returns when all has been passed, or the sink has had enough.
   *
   * @param directory where to begin; not passed itself
   * @param threads runs what is done in parallel
   */
  void scan(OriginPath directory, Executor threads, ScanSink sink) throws FsException;

  /** Returns the value of an extended attribute. */
  byte[] extendedAttribute(OriginPath path, byte[] name) throws FsException;

  /** Returns the names of the extended attributes, each followed by a NUL. */
  byte[] extendedAttributeNames(OriginPath path) throws FsException;

  /** Returns the figures of the store that holds the dataset. */
  StoreFigures figures() throws FsException;

  @Override
  void close();

  /** Takes the entries of a directory one by one. */
  @FunctionalInterface
  interface EntrySink {
    /**
     * Takes an entry.
     *
     * @param name its name, without slash
     * @param type its type as in {@link Attributes#type()}, or 0 where the store does not say
     * @param inode its inode number
     * @param attributes those of a symlink itself; null where they cannot be had
     */
    void entry(byte[] name, int type, long inode, @Nullable Attributes attributes);
  }

  /** Takes what a scan finds. Called by several threads at once. */
  interface ScanSink {
    /** Takes some entries of a directory. */
    void entries(OriginPath directory, List<ScannedEntry> entries);

    /** Learns that all entries of a directory have been passed. */
    void complete(OriginPath directory);

    /** Learns that a directory, or what is below it, could not be listed, or not to its end. */
    void failed(OriginPath directory, FsException cause);

    /** Tells whether the scan is to go on. */
    boolean goesOn();
  }

  /**
   * An entry that a scan found.
   *
   * @param name its name within its directory
   * @param attributes those of a symlink itself; null where they cannot be had
   */
  record ScannedEntry(OriginPath name, @Nullable Attributes attributes) {}
}
