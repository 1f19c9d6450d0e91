package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.LongPredicate;
import jnr.constants.platform.Errno;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The regular files of the front whose bytes are all durable in the store. A <i>clean</i> file has
 * them in the front, too. A <i>stub</i> has its size and a mark, an extended attribute, and no
 * bytes. Clean files that are not open become stubs when the front needs room.
 *
 * <p>Guarded by the lock of the {@link Front}.
 */
final class StoredFiles {
  private static final Logger log = LoggerFactory.getLogger(StoredFiles.class);

  /** The mark of a stub. */
  static final String MARK = Front.HIDDEN_XATTR + "stub";

  /** A file that becomes a stub of the tree once it is whole. */
  private static final String STAGED = "staged";

  /** A file without content that is there until a comparison with the store is over. */
  private static final String COMPARING = "comparing";

  private static final int KEEP_AND_PUNCH = 3;

  /** The failures of file systems that cannot have an attribute. */
  private static final List<Errno> REFUSALS =
      List.of(Errno.ENOSPC, Errno.E2BIG, Errno.ERANGE, Errno.EOPNOTSUPP);

  static final int BLOCK = 512;

  private final FileTree root;
  private final FileTree tree;
  private final LongPredicate isOpen;
  private final Set<Long> stubs = new HashSet<>();

  /** By inode, the one that was written longest ago first. */
  private final Map<Long, Clean> clean = new LinkedHashMap<>();

  private long cleanBytes;
  private boolean leavesOut;
  private boolean isComparing;

  /** A clean file, and the name that it had when that was known last. */
  private record Clean(String path, long bytes) {}

  /**
   * Creates a memory of no file.
   *
   * @param root the front's directory
   * @param tree the files as programs see them
   * @param isOpen tells whether a file is open, by inode
   */
  StoredFiles(FileTree root, FileTree tree, LongPredicate isOpen) throws ErrnoException {
    this.root = root;
    this.tree = tree;
    this.isOpen = isOpen;
    isComparing = root.find(COMPARING).isPresent();
  }

  /**
   * Notes that the store may lack files that are clean, until {@link #endComparison}: none of them
   * becomes a stub, also if the process is killed and another one opens the front.
   */
  void beginComparison() throws ErrnoException {
    if (!isComparing) {
      LIBC.close(root.create(COMPARING));
      root.sync("");
      isComparing = true;
    }
  }

  /** Notes that the store has, or gets again, all that is clean. */
  void endComparison() throws ErrnoException {
    root.remove(COMPARING, false);
    isComparing = false;
  }

  /** Tells whether a comparison is under way, or was when an earlier process ended. */
  boolean isComparing() {
    return isComparing;
  }

  /**
   * Finds the files of a directory and below.
   *
   * @param isPending tells whether the store lacks bytes of a file, by inode
   */
  void find(String directory, LongPredicate isPending) throws ErrnoException {
    for (FileTree.Entry entry : tree.list(directory)) {
      String path = FileTree.child(directory, entry.name());
      if (FileTree.isTooLong(path)) {
        log.warn("too deep to be shown: {}", FileTree.visible(path));
      } else if (entry.type() == Stat.DIRECTORY) {
        find(path, isPending);
      } else if (entry.type() == Stat.REGULAR) {
        Stat stat = tree.stat(path);
        if (tree.xattrNames(path).contains(MARK)) {
          stubs.add(stat.inode());
          if (stat.blocks() > 0) {
            punchIfPossible(path, stat);
          }
        } else if (!isPending.test(stat.inode())) {
          addClean(path, stat);
        }
      }
    }
  }

  // --- clean files

  /** Returns the bytes of clean files in the front. */
  long cleanBytes() {
    return cleanBytes;
  }

  /** Notes that the store has all bytes of a file that the front has. */
  void addClean(String path, Stat stat) {
    forgetClean(stat.inode());
    long bytes = stat.blocks() * BLOCK;
    if (bytes > 0) {
      clean.put(stat.inode(), new Clean(path, bytes));
      cleanBytes += bytes;
    }
  }

  /** Notes that a file has got bytes that the store lacks. */
  void forgetClean(long inode) {
    Clean file = clean.remove(inode);
    if (file != null) {
      cleanBytes -= file.bytes();
    }
  }

  /** Notes that a file has lost its last name. */
  void forget(long inode) {
    forgetClean(inode);
    stubs.remove(inode);
  }

  /** Notes the new names of clean files, which are those of the store. */
  void renamed(Operation.Rename rename, long inode) {
    Clean file = clean.get(inode);
    if (file != null && (rename.flags() & Operation.Rename.EXCHANGE) == 0) {
      clean.put(inode, new Clean(rename.to(), file.bytes())); // keeps its place
      return;
    }
    clean.replaceAll(
        (each, was) -> {
          String path = rename.after(was.path());
          return path.equals(was.path()) ? was : new Clean(path, was.bytes());
        });
  }

  /** Tells whether a clean file may become a stub. */
  boolean hasRoomToMake() {
    return !isComparing && clean.keySet().stream().anyMatch(inode -> !isOpen.test(inode));
  }

  /**
   * Makes a stub of the clean file that was written longest ago and is not open, if there is one.
   *
   * @param which chooses by the name in the store and the bytes in the front
   */
  boolean evictOne(BiPredicate<String, Long> which) {
    if (isComparing) {
      return false;
    }
    for (Map.Entry<Long, Clean> each : clean.entrySet()) {
      long inode = each.getKey();
      if (which.test(each.getValue().path(), each.getValue().bytes()) && !isOpen.test(inode)) {
        if (!makeStub(inode, each.getValue().path())) {
          String path = pathOf(inode); // it was renamed
          if (path == null || !makeStub(inode, path)) {
            log.debug("no name leads to {} any more", FileTree.visible(each.getValue().path()));
          }
        }
        forgetClean(inode);
        return true;
      }
    }
    return false;
  }

  /** Looks for a name of a file in the whole tree; null if there is none. */
  @Nullable String pathOf(long inode) {
    try {
      return pathOf("", inode);
    } catch (ErrnoException e) {
      log.warn("a name of a file cannot be found: {}", e.getMessage());
      return null;
    }
  }

  private @Nullable String pathOf(String directory, long inode) throws ErrnoException {
    for (FileTree.Entry entry : tree.list(directory)) {
      String path = FileTree.child(directory, entry.name());
      String found = entry.inode() == inode ? path : null;
      if (found == null && entry.type() == Stat.DIRECTORY && !FileTree.isTooLong(path)) {
        found = pathOf(path, inode);
      }
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  // --- stubs

  /** Returns the blocks that so many bytes take, as {@link Stat#blocks} counts them. */
  static long blocks(long bytes) {
    return bytes / BLOCK + (bytes % BLOCK == 0 ? 0 : 1);
  }

  /** Tells whether only the store has a file's bytes. */
  boolean isStub(long inode) {
    return stubs.contains(inode);
  }

  private boolean makeStub(long inode, String path) {
    try {
      Optional<Stat> there = tree.find(path).filter(stat -> stat.inode() == inode);
      if (there.isEmpty()) {
        return false;
      }
      Stat stat = there.get();
      tree.setXattr(path, MARK, new byte[] {'1'}, 0);
      stubs.add(inode);
      punch(path, stat);
      return true;
    } catch (ErrnoException e) {
      log.warn("the front keeps a file that it need not: {}", e.getMessage());
      return false;
    }
  }

  /** Takes the bytes out of a stub. */
  private void punch(String path, Stat stat) throws ErrnoException {
    tree.allocate(path, KEEP_AND_PUNCH, 0, Math.max(1, stat.size()));
    tree.times(path, stat.accessed(), stat.modified());
  }

  /** The same for bytes of a fetch that was not finished: they would take room for ever. */
  void punchIfPossible(String path, Stat stat) {
    try {
      punch(path, stat);
    } catch (ErrnoException e) {
      log.warn("a part of a file stays in the front, and takes room: {}", e.getMessage());
    }
  }

  /**
   * Makes an entry that the store has, without its bytes. A regular file gets its name last: if the
   * process were killed before it has its mark, zeroes would be taken for its bytes.
   *
   * @param xattrs its extended attributes, by their names
   */
  void addStub(String path, Stat stat, String target, Map<String, byte[]> xattrs)
      throws ErrnoException {
    if (stat.isRegular()) {
      stage(stat, xattrs);
      long inode = root.stat(STAGED).inode();
      root.rename(STAGED, FileTree.child("tree", path), 0);
      stubs.add(inode);
      return;
    }
    tree.make(path, stat.mode(), stat.device(), stat.uid(), stat.gid(), target);
    setXattrs(tree, path, xattrs);
    tree.times(path, stat.accessed(), stat.modified());
  }

  private void stage(Stat stat, Map<String, byte[]> xattrs) throws ErrnoException {
    removeStaged();
    root.make(STAGED, stat.mode(), stat.device(), stat.uid(), stat.gid(), "");
    root.setXattr(STAGED, MARK, new byte[] {'1'}, 0);
    setXattrs(root, STAGED, xattrs);
    root.resize(STAGED, stat.size());
    root.times(STAGED, stat.accessed(), stat.modified());
  }

  /** Leaves out attributes that the front's file system has no room for, or does not have. */
  private void setXattrs(FileTree where, String path, Map<String, byte[]> xattrs)
      throws ErrnoException {
    for (Map.Entry<String, byte[]> xattr : xattrs.entrySet()) {
      try {
        where.setXattr(path, xattr.getKey(), xattr.getValue(), 0);
      } catch (ErrnoException e) {
        if (REFUSALS.stream().noneMatch(e::is)) {
          throw e;
        }
        if (!leavesOut) {
          log.warn("the front cannot have all attributes that the store has: {}", e.getMessage());
          leavesOut = true;
        }
      }
    }
  }

  /** Removes the stub that a killed process was making. */
  void removeStaged() throws ErrnoException {
    if (root.find(STAGED).isPresent()) {
      root.remove(STAGED, false);
    }
  }

  /**
   * Takes a name of a stub away whose bytes nobody has, or that the store has otherwise by now. The
   * file stays a stub as long as it has another name.
   */
  void forgetStub(String path) throws ErrnoException {
    Stat stat = tree.stat(path);
    tree.remove(path, false);
    if (stat.links() == 1) {
      stubs.remove(stat.inode());
    }
  }

  /** Notes that the front has the bytes of a file that was a stub. */
  void isWhole(String path) throws ErrnoException {
    tree.removeXattr(path, MARK);
    Stat stat = tree.stat(path);
    stubs.remove(stat.inode());
    addClean(path, stat);
  }
}
