package io.holdfast.fs.mount.kernel;

import io.holdfast.fs.FsException;
import io.holdfast.fs.mount.Filesystem;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.Origin.EntrySink;
import java.util.ArrayList;
import java.util.List;

/**
 * The entries of a directory at one moment. A directory is read in several requests that know of
 * each other only how far they came; all of one pass are answered from one of these. Immutable.
 */
final class Listing {
  /** An entry. Immutable but for its name, which nobody changes. */
  static final class Entry {
    private final byte[] name;
    private final int type;
    private final long inode;

    Entry(byte[] name, int type, long inode) {
      this.name = name;
      this.type = type;
      this.inode = inode;
    }

    byte[] name() {
      return name;
    }

    int type() {
      return type;
    }

    long inode() {
      return inode;
    }

    /** Tells whether it is the directory itself or the one above, which are never looked up. */
    boolean isDots() {
      return name[0] == '.' && (name.length == 1 || (name.length == 2 && name[1] == '.'));
    }
  }

  private final List<Entry> entries;
  private final boolean lookedUp;

  private Listing(List<Entry> entries, boolean lookedUp) {
    this.entries = entries;
    this.lookedUp = lookedUp;
  }

  /**
   * Lists a directory.
   *
   * @param lookUp find out what the entries lead to, too, where that is cheap
   */
  static Listing of(Filesystem filesystem, long node, boolean lookUp) throws FsException {
    List<Entry> entries = new ArrayList<>();
    entries.add(new Entry(new byte[] {'.'}, Attributes.DIRECTORY, node));
    entries.add(new Entry(new byte[] {'.', '.'}, Attributes.DIRECTORY, node));
    EntrySink all = (name, type, inode) -> entries.add(new Entry(name, type, inode));
    if (lookUp) {
      return new Listing(entries, filesystem.listAndLookUp(node, all));
    }
    filesystem.list(node, all);
    return new Listing(entries, false);
  }

  /** Tells whether the filesystem knows what each entry leads to, as of this listing. */
  boolean isLookedUp() {
    return lookedUp;
  }

  int size() {
    return entries.size();
  }

  Entry get(int index) {
    return entries.get(index);
  }
}
