package io.holdfast.fs.origin;

import io.holdfast.fs.FsException;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The authoritative store of a dataset, read-only. Paths are relative to its root. No call ever
 * leaves the root or follows a symlink, whatever the path says.
 *
 * <p>Thread-safe. Calls block until the store answers; a hanging network filesystem may never
 * answer: see {@link #mayHang()}. A failure is an {@link FsException} with the domain's code; the
 * message names the entry.
 */
public interface Origin extends AutoCloseable {
  /** Returns the origin's name for people and for the mount table. */
  String describe();

  /**
   * Returns a line that distinguishes this dataset from all others, including an earlier one at the
   * same place. It stays the same when the origin is opened again.
   */
  default String identity() throws FsException {
    return describe();
  }

  /**
   * Tells whether a call may block without a bound, as on a network filesystem whose server is
   * gone. If so, callers use threads that they can give up.
   */
  boolean mayHang();

  /**
   * Makes the store itself answer a small request that no cache on the way can answer.
   *
   * @throws FsException where the store does not answer
   */
  default void probe() throws FsException {
    figures();
  }

  /** Returns whether the store answers, as far as is known. Does not block. */
  default OriginHealth health() {
    return OriginHealth.WELL;
  }

  /** Checks whether the store answers. Called once a second. Does not block. */
  default void watch() {}

  /** Tells whether entries may have rights beyond their modes. */
  default boolean mayHaveAcls() {
    return false;
  }

  /** Returns the attributes of an entry; for a symlink, its own. */
  Attributes stat(OriginPath path) throws FsException;

  /**
   * Has the store itself tell the attributes of an entry, so that no cache on the way answers later
   * questions with what it knew before this call. A path that leads nowhere is no failure.
   *
   * @throws FsException where the store does not answer
   */
  default void sync(OriginPath path) throws FsException {}

  /**
   * Returns the attributes of an entry of which the caller knows earlier ones. A store asks for an
   * attribute that costs a call of its own only where it may have changed.
   *
   * @param known the attributes that the store reported last, or null
   */
  default Attributes stat(OriginPath path, @Nullable Attributes known) throws FsException {
    return stat(path);
  }

  /**
   * Finds the entry of a name, and the directories that lead to it.
   *
   * @param way the known attributes of the directory that holds the name and of its ancestors, the
   *     nearest first; the answer has the current attributes of as many directories
   * @param known the attributes that the store reported last for the entry, or null
   */
  default Found find(
      OriginPath directory, byte[] name, List<Attributes> way, @Nullable Attributes known)
      throws FsException {
    return new Found(stat(directory.child(name), known), List.of());
  }

  /**
   * An entry that a name leads to.
   *
   * @param entry its attributes; for a symlink, its own
   * @param way the attributes of the directory and its ancestors, read no earlier than the entry's,
   *     the nearest first; empty in a store whose directories have neither identities nor rights of
   *     their own
   */
  record Found(Attributes entry, List<Attributes> way) {}

  /**
   * Finds entries of one directory like {@link #find}, and goes the way to them only once. A store
   * that does not, finds none.
   *
   * @param entries the names, with the attributes that the store reported last
   * @param way as for {@link #find}
   */
  default FoundEntries findAll(OriginPath directory, List<KnownEntry> entries, List<Attributes> way)
      throws FsException {
    return new FoundEntries(Collections.nCopies(entries.size(), null), List.of());
  }

  /** A name in a directory, with the attributes that the store reported last for it. */
  record KnownEntry(OriginPath name, Attributes attributes) {}

  /**
   * Entries of one directory.
   *
   * @param entries the attributes of each name; null where only {@link #find} tells what became of
   *     the name
   * @param way the attributes of the directory and its ancestors, as in {@link Found}
   */
  record FoundEntries(List<@Nullable Attributes> entries, List<Attributes> way) {}

  /**
   * Returns the target of a symlink, as it is stored.
   *
   * @param known the known attributes of the symlink
   * @throws FsException STALE where the path leads to another entry by now
   */
  byte[] readLink(OriginPath path, Attributes known) throws FsException;

  /**
   * Passes each entry of a directory, without {@code .} and {@code ..}, in the store's order, with
   * its attributes, which many stores have at hand in a listing. An entry whose attributes cannot
   * be read is passed with the cause.
   */
  void list(OriginPath path, EntrySink sink) throws FsException;

  /**
   * Returns for how many nanoseconds from now the content of a version must not be read yet,
   * because a writer may still write other bytes under the same version. Does not block.
   */
  default long quietNanos(Version version) {
    return 0;
  }

  /**
   * Opens a regular file to read a part of it.
   *
   * @param part the range that will be read, from its first byte to its last; a store with a high
   *     latency may begin to fetch the range at once
   * @throws FsException as the store says; STALE where the store knows at once that the content has
   *     another version
   */
  OriginFile open(OriginPath path, Part part) throws FsException;

  /**
   * A part of one version of a file's content.
   *
   * @param version the content
   * @param offset first byte
   * @param length bytes, which may extend beyond the end of the content
   */
  record Part(Version version, long offset, int length) {}

  /**
   * Tells whether the store has directories, and a scan lists them one by one. A store without them
   * bounds the requests of its scan itself.
   */
  default boolean hasDirectories() {
    return true;
  }

  /**
   * Passes every entry below a directory once, with its attributes; a directory precedes its
   * entries. Returns when all entries have been passed, or the sink wants no more.
   *
   * @param directory the directory to begin with; not passed itself
   * @param threads runs the parallel part
   */
  void scan(OriginPath directory, Executor threads, ScanSink sink) throws FsException;

  /**
   * Returns the value of an extended attribute.
   *
   * @param known the known attributes of the entry
   * @throws FsException STALE where the path leads to another entry by now
   */
  byte[] extendedAttribute(OriginPath path, Attributes known, byte[] name) throws FsException;

  /**
   * Returns the names of the extended attributes, each followed by a NUL; otherwise like {@link
   * #extendedAttribute}.
   */
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
     * @param attributes its attributes, for a symlink its own
     */
    void entry(byte[] name, int type, long inode, Attributes attributes);

    /**
     * Takes an entry whose attributes cannot be read, as {@link UnreadSink} does. Leaves it out
     * otherwise.
     */
    default void unread(byte[] name, int type, long inode, FsException cause) {}

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

    /** Tells whether the store itself is to be asked, and no cache on the way. */
    default boolean isSynced() {
      return false;
    }

    /** Returns the same, with something known of the directory's entries. */
    default EntrySink knowing(KnownEntries known) {
      return new KnowingSink(this, known);
    }
  }

  /** Takes the entries of a directory whose attributes cannot be read. */
  @FunctionalInterface
  interface UnreadSink {
    /**
     * Takes such an entry.
     *
     * @param cause why its attributes cannot be read; otherwise as {@link EntrySink#entry} has it
     */
    void unread(byte[] name, int type, long inode, FsException cause);
  }

  /** A sink with what is known. */
  record KnowingSink(EntrySink sink, KnownEntries known) implements EntrySink {
    @Override
    public void entry(byte[] name, int type, long inode, Attributes attributes) {
      sink.entry(name, type, inode, attributes);
    }

    @Override
    public void unread(byte[] name, int type, long inode, FsException cause) {
      sink.unread(name, type, inode, cause);
    }

    @Override
    public void way(List<Attributes> way) throws FsException {
      sink.way(way);
    }

    @Override
    public boolean isSynced() {
      return sink.isSynced();
    }
  }

  /** Takes what a scan finds. Called by several threads at once. */
  interface ScanSink {
    /** Takes some entries of a directory. */
    void entries(OriginPath directory, List<ScannedEntry> entries);

    /** Learns of an entry whose attributes cannot be read. */
    void unread(OriginPath directory, OriginPath name, FsException cause);

    /** Learns, before entries of a directory, what led to them, as {@link EntrySink#way} does. */
    default void way(OriginPath directory, List<Attributes> way) throws FsException {}

    /** Learns that all entries of a directory have been passed. */
    void complete(OriginPath directory);

    /**
     * Learns that a directory, or what is below it, could not be listed, or not to its end. Records
     * that before it takes memory: the heap may be full.
     */
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

    /** Tells whether the store itself is to be asked, and no cache on the way. */
    default boolean isSynced() {
      return false;
    }

    /** Tells whether the scan is to go on. */
    boolean goesOn();
  }

  /**
   * An entry that a scan found.
   *
   * @param name its name within its directory
   * @param attributes those of a symlink itself
   */
  record ScannedEntry(OriginPath name, Attributes attributes) {}
}
