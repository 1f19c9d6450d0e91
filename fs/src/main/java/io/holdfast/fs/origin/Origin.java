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

  /** Tells whether entries may have rights that their modes do not tell. */
  default boolean mayHaveAcls() {
    return false;
  }

  /** Returns the attributes of an entry; of a symlink, its own. */
  Attributes stat(OriginPath path) throws FsException;

  /**
   * The same for who knows something of the entry, so that what costs a call of its own is asked
   * for only where it may have changed.
   *
   * @param known what was told of it last, or null
   */
  default Attributes stat(OriginPath path, @Nullable Attributes known) throws FsException {
    return stat(path);
  }

  /**
   * Finds out what a name leads to, and what led there.
   *
   * @param way what is known of the directory that holds the name and of those above it, the
   *     nearest first; of as many as it has, the answer tells what they are now
   * @param known what was told of the name's entry last, or null
   */
  default Found find(
      OriginPath directory, byte[] name, List<Attributes> way, @Nullable Attributes known)
      throws FsException {
    return new Found(stat(directory.child(name), known), List.of());
  }

  /**
   * What a name leads to.
   *
   * @param entry its attributes; of a symlink, its own
   * @param way the attributes that the directory and those above it had no sooner, the nearest
   *     first; none in a store whose directories have neither identities nor rights of their own
   */
  record Found(Attributes entry, List<Attributes> way) {}

  /**
   * Returns the target of a symlink, as it is stored.
   *
   * @param known what is known of the symlink
   * @throws FsException STALE where the path leads to something else by now
   */
  byte[] readLink(OriginPath path, Attributes known) throws FsException;

  /**
   * Passes each entry of a directory, without {@code .} and {@code ..}, in the store's order, with
   * its attributes, which many stores have at hand in a listing. An entry whose attributes cannot
   * be had comes without them.
   */
  void list(OriginPath path, EntrySink sink) throws FsException;

  /**
   * Returns for how many nanoseconds from now the content of a version is not to be read yet, since
   * other bytes may still be written that show the same version. Does not block.
   */
  default long quietNanos(Version version) {
    return 0;
  }

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

  /**
   * Returns the value of an extended attribute.
   *
   * @param known what is known of the entry
   * @throws FsException STALE where the path leads to something else by now
   */
  byte[] extendedAttribute(OriginPath path, Attributes known, byte[] name) throws FsException;

  /** Returns the names of the extended attributes, each followed by a NUL; else likewise. */
  byte[] extendedAttributeNames(OriginPath path, Attributes known) throws FsException;

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

    /**
     * Learns, before the entries themselves come, what led to the next ones.
     *
     * @param way the attributes that the directory and all above it had when the entries had been
     *     read, the nearest first
     * @throws FsException STALE where these are not the directories that were meant
     */
    default void way(List<Attributes> way) throws FsException {}

    /** Returns what is known of the directory's entries. */
    default KnownEntries known() {
      return KnownEntries.NONE;
    }

    /** Returns the same, with something known of the directory's entries. */
    default EntrySink knowing(KnownEntries known) {
      return new KnowingSink(this, known);
    }
  }

  /** A sink with what is known. */
  record KnowingSink(EntrySink sink, KnownEntries known) implements EntrySink {
    @Override
    public void entry(byte[] name, int type, long inode, @Nullable Attributes attributes) {
      sink.entry(name, type, inode, attributes);
    }

    @Override
    public void way(List<Attributes> way) throws FsException {
      sink.way(way);
    }
  }

  /** Takes what a scan finds. Called by several threads at once. */
  interface ScanSink {
    /** Takes some entries of a directory. */
    void entries(OriginPath directory, List<ScannedEntry> entries);

    /** Learns, before entries of a directory, what led to them, as {@link EntrySink#way} does. */
    default void way(OriginPath directory, List<Attributes> way) throws FsException {}

    /** Learns that all entries of a directory have been passed. */
    void complete(OriginPath directory);

    /** Learns that a directory, or what is below it, could not be listed, or not to its end. */
    void failed(OriginPath directory, FsException cause);

    /**
     * Learns of something in the store that has no path, and is not shown.
     *
     * @param key its name in the store
     */
    default void hidden(String key) {}

    /** Returns what is known of a directory's entries. */
    default KnownEntries known(OriginPath directory) {
      return KnownEntries.NONE;
    }

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
