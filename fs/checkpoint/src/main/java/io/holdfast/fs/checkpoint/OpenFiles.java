package io.holdfast.fs.checkpoint;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of the front that programs have open. One that loses its last name in the tree gets
 * another outside of it, so that the next daemon has it if this one is killed.
 *
 * <p>Guarded by the lock of the {@link Front}.
 */
final class OpenFiles {
  private static final Logger log = LoggerFactory.getLogger(OpenFiles.class);

  /** The directory of the files that have lost their names. */
  static final String UNLINKED = "unlinked";

  private final FileTree root;

  /** By inode, how often each is open. */
  private final Map<Long, Integer> opened = new HashMap<>();

  /** The inodes of files that have a name in that directory. */
  private final Set<Long> unlinked = new HashSet<>();

  /** By inode, the bytes that each file without names takes. */
  private final Map<Long, Long> nameless = new HashMap<>();

  private long namelessBytes;

  /**
   * Creates a memory of no file.
   *
   * @param root the front's directory
   */
  OpenFiles(FileTree root) {
    this.root = root;
  }

  /** Notes that a file has been opened. */
  void opened(long inode) {
    opened.merge(inode, 1, Integer::sum);
  }

  /** Takes {@link #opened} back. */
  void released(long inode) {
    opened.computeIfPresent(inode, (key, count) -> count == 1 ? null : count - 1);
    if (!isOpen(inode)) {
      forgetUnlinked(inode);
    }
  }

  boolean isOpen(long inode) {
    return opened.containsKey(inode);
  }

  /** Tells whether a file has a name outside of the tree because it was open without one. */
  boolean isUnlinked(long inode) {
    return unlinked.contains(inode);
  }

  /**
   * Gives a file that is about to lose its last name another one outside of the tree.
   *
   * @return its inode; 0 if the file system has no room for the name
   */
  long keep(String path, Stat file) {
    long inode = file.inode();
    takes(file);
    try {
      root.link(FileTree.child("tree", path), unlinked(inode));
    } catch (ErrnoException e) {
      log.debug("the next daemon would not have this file: {}", e.getMessage());
      return 0; // a full file system must not keep anybody from removing a file
    }
    unlinked.add(inode);
    return inode;
  }

  /** Returns the bytes that files without names take. */
  long namelessBytes() {
    return namelessBytes;
  }

  /** Notes what a file takes that is open and has no name, or is about to lose it. */
  void takes(Stat file) {
    long bytes = file.blocks() * StoredFiles.BLOCK;
    Long before = nameless.put(file.inode(), bytes);
    namelessBytes += bytes - (before == null ? 0 : before);
  }

  private static String unlinked(long inode) {
    return UNLINKED + "/" + Long.toUnsignedString(inode);
  }

  /** Takes the name of a file away that has no other, and that nobody has open any more. */
  void forgetUnlinked(long inode) {
    Long bytes = nameless.remove(inode);
    namelessBytes -= bytes == null ? 0 : bytes;
    if (unlinked.remove(inode)) {
      try {
        root.remove(unlinked(inode), false);
      } catch (ErrnoException e) {
        log.warn("a file without names stays until the next mount: {}", e.getMessage());
      }
    }
  }

  /**
   * Keeps the files without names that a killed daemon had open, and takes the others away.
   *
   * @param open inodes
   */
  void keepUnlinked(Set<Long> open) throws ErrnoException {
    for (FileTree.Entry entry : root.list(UNLINKED)) {
      long inode = Long.parseUnsignedLong(entry.name());
      unlinked.add(inode);
      takes(statUnlinked(inode));
      if (!open.contains(inode)) {
        forgetUnlinked(inode);
      }
    }
  }

  /** Returns the attributes of a file without names. */
  Stat statUnlinked(long inode) throws ErrnoException {
    return root.stat(unlinked(inode));
  }

  /** Opens a file without names. */
  int openUnlinked(long inode, int flags) throws ErrnoException {
    return root.open(unlinked(inode), flags);
  }
}
