package io.holdfast.fs.mount.kernel;

import io.holdfast.fs.FsException;
import io.holdfast.fs.mount.Filesystem;
import io.holdfast.fs.origin.Attributes;
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

  private Listing(List<Entry> entries) {
    this.entries = entries;
  }

  static Listing of(Filesystem filesystem, long node) throws FsException {
    List<Entry> entries = new ArrayList<>();
    entries.add(new Entry(new byte[] {'.'}, Attributes.DIRECTORY, node));
    entries.add(new Entry(new byte[] {'.', '.'}, Attributes.DIRECTORY, node));
    filesystem.list(node, (name, type, inode) -> entries.add(new Entry(name, type, inode)));
    return new Listing(entries);
  }

  int size() {
    return entries.size();
  }

  Entry get(int index) {
    return entries.get(index);
  }
}
