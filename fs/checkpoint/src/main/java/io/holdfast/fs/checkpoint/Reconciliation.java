package io.holdfast.fs.checkpoint;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares what the store has with the front, when nothing is pending, and makes both the same:
 * what only the store has appears in the front, as stubs; what only the front has, or has with
 * another size, goes to the store again, as new operations; and a stub whose bytes the store has
 * lost goes. For one run.
 */
public final class Reconciliation {
  private static final Logger log = LoggerFactory.getLogger(Reconciliation.class);

  private final Front front;
  private final Store store;

  /** The front's path of each file of the store with several names. */
  private final Map<Long, String> linked = new HashMap<>();

  /** By inode, a path of each file of several names that the store has, or gets again. */
  private final Map<Long, String> brought = new HashMap<>();

  /** Names that the store has lost of files that may have others there. */
  private final List<String> lostNames = new ArrayList<>();

  private int differences;

  /** Prepares to compare. */
  public Reconciliation(Front front, Store store) {
    this.front = front;
    this.store = store;
  }

  /**
   * Compares, and returns how many entries were different. If this fails, or the process is killed
   * meanwhile, {@link Front#isComparing} says so, and another run does the rest once the store has
   * what is pending.
   */
  public int run() throws ErrnoException {
    front.beginComparison();
    compareRights("", front.tree().stat(""), store.stat(""));
    compare("");
    for (String path : lostNames) {
      bringAgain(path, front.tree().stat(path), false);
    }
    front.endComparison();
    return differences;
  }

  /** The store's owners and modes hold: nobody is to see in the mount what the store denies. */
  private void compareRights(String path, Stat here, Stat there) throws ErrnoException {
    if (store.keepsOwners() && (here.uid() != there.uid() || here.gid() != there.gid())) {
      front.tree().own(path, there.uid(), there.gid());
    }
    // another owner may have cost set-user and set-group bits
    if (!here.isSymlink() && front.tree().stat(path).mode() != there.mode()) {
      front.tree().chmod(path, there.mode() & ~Stat.TYPE);
    }
  }

  private void compare(String directory) throws ErrnoException {
    Set<String> here = names(front.tree().list(directory));
    Set<String> there = names(store.list(directory));
    there.remove(directory.isEmpty() ? Store.OWNER : "");
    for (String name : here) {
      String path = FileTree.child(directory, name);
      if (FileTree.isTooLong(path)) {
        continue;
      }
      if (there.contains(name)) {
        compareEntry(path);
      } else {
        differences++;
        missingAtStore(path);
      }
    }
    there.removeAll(here);
    for (String name : there) {
      differences++;
      take(FileTree.child(directory, name));
    }
  }

  /** Brings a file of the front to the store; its second name is only a name. */
  private void bringAgain(String path, Stat here, boolean replaces) throws ErrnoException {
    String first = brought.putIfAbsent(here.inode(), path);
    if (first != null) {
      front.linkAgain(first, path, replaces);
      return;
    }
    if (!replaces) {
      front.makeAgain(path, here);
    }
    front.writeAgain(path);
    if (replaces) {
      // last, so that the next run sees by the size whether the store has all bytes
      front.resizeAgain(path, here.size());
    }
  }

  private static Set<String> names(List<FileTree.Entry> entries) {
    Set<String> names = new HashSet<>();
    entries.forEach(entry -> names.add(entry.name()));
    return names;
  }

  private void compareEntry(String path) throws ErrnoException {
    Stat here = front.tree().stat(path);
    Stat there = store.stat(path);
    if (here.type() == there.type()) {
      compareRights(path, here, there);
    }
    if (here.isRegular() && there.isRegular() && here.links() > 1 && here.size() == there.size()) {
      brought.putIfAbsent(here.inode(), path);
    }
    if (here.isDirectory() && there.isDirectory()) {
      compare(path);
    } else if (here.type() != there.type()
        || (here.isRegular() && here.size() != there.size())
        || (here.isSymlink() && !front.tree().readLink(path).equals(store.readLink(path)))) {
      differences++;
      if (there.isRegular() && front.isStub(here.inode())) {
        front.forgetStub(path);
        take(path);
      } else if (here.isSymlink() && there.isSymlink()) {
        front.tree().remove(path, false);
        take(path);
      } else if (here.isRegular() && there.isRegular()) {
        log.warn(
            "the store has another size of a file, which is written again: {}",
            FileTree.visible(path));
        bringAgain(path, here, true);
      } else {
        throw ErrnoException.because(
            jnr.constants.platform.Errno.EEXIST,
            path,
            "is of another type in the store: take it away there, or use another front");
      }
    }
  }

  /** Makes an entry of the store, and all below it, appear in the front. */
  private void take(String path) throws ErrnoException {
    if (FileTree.isTooLong(path)) {
      log.warn("too deep to be shown: {}", FileTree.visible(path));
      return;
    }
    Stat stat = store.stat(path);
    Optional<String> first = Optional.ofNullable(linked.get(stat.inode()));
    if (first.isPresent()) {
      front.tree().link(first.get(), path);
      return;
    }
    if (!stat.isDirectory() && stat.links() > 1) {
      linked.put(stat.inode(), path);
    }
    front.addStub(path, stat, stat.isSymlink() ? store.readLink(path) : "", xattrs(path));
    if (stat.isDirectory()) {
      for (FileTree.Entry entry : store.list(path)) {
        take(FileTree.child(path, entry.name()));
      }
      front.tree().times(path, stat.accessed(), stat.modified());
    }
  }

  /** Returns those attributes that programs can set in the mount. */
  private Map<String, byte[]> xattrs(String path) throws ErrnoException {
    Map<String, byte[]> xattrs = new LinkedHashMap<>();
    for (String name : store.xattrNames(path)) {
      if (CheckpointFilesystem.isOfPrograms(name)) {
        xattrs.put(name, store.xattr(path, name));
      }
    }
    return xattrs;
  }

  /** Brings an entry that the store has lost there again, or takes it away if nobody has it. */
  private void missingAtStore(String path) throws ErrnoException {
    if (FileTree.isTooLong(path)) {
      return;
    }
    Stat stat = front.tree().stat(path);
    if (stat.isRegular() && front.isStub(stat.inode())) {
      log.warn("the store has lost a file, which was only there: {}", FileTree.visible(path));
      front.forgetStub(path);
      return;
    }
    log.warn(
        "the store has lost an entry, which is brought there again: {}", FileTree.visible(path));
    if (stat.isRegular() && stat.links() > 1) {
      lostNames.add(path);
      return;
    }
    if (stat.isRegular()) {
      bringAgain(path, stat, false);
      return;
    }
    front.makeAgain(path, stat);
    if (stat.isDirectory()) {
      for (FileTree.Entry entry : front.tree().list(path)) {
        missingAtStore(FileTree.child(path, entry.name()));
      }
    }
  }
}
