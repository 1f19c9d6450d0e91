package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import jnr.constants.platform.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory as the store: on NFS, Lustre, or any file system. A file in it, {@link #OWNER}, names
 * the node that may write, and {@link #LAST} the last mount. Not thread-safe, except for the
 * methods that read.
 */
public final class DirectoryStore implements InPlaceStore {
  private static final Logger log = LoggerFactory.getLogger(DirectoryStore.class);

  /**
   * The name in the root of the directories that programs have removed and that the file system
   * cannot remove yet, each under the number of its inode.
   */
  static final String REMOVED = OWNER + ".removed";

  /** The paths that are not listed. */
  private static final Set<String> HIDDEN = Set.of(REMOVED, LAST);

  /** The beginning of the names that NFS gives to files that are removed while they are open. */
  private static final String REMOVED_WHILE_OPEN = ".nfs";

  private static final int LARGEST_OWNER = 4096;

  /**
   * The mode of {@link #LAST}, which outlives the mount: the server may take root for another user
   * at the next one.
   */
  private static final int FOR_ALL_TO_READ = 0644;

  private static final int ZEROES = 1 << 20;
  private static final int SEEK_SET = 0;

  /**
   * File systems where two names can change places, by f_type of statfs: ext4, XFS, btrfs, tmpfs,
   * F2FS. NFS cannot, and of others it is not known.
   */
  private static final Set<Integer> EXCHANGE =
      Set.of(0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0xF2F52010);

  private static final int XFS = 0x58465342;
  private static final int EXT4 = 0xEF53;

  /** A symlink of XFS is no longer, and of NFS it is not known where its files are. */
  private static final int LONGEST_TARGET_OF_ALL = 1023;

  private static final int LONGEST_TARGET = 4095;

  /** The fewest that a file system has that is in use: those of ext3. */
  private static final int MOST_LINKS = 32_000;

  private final FileTree tree;
  private final byte[] owner;
  private final byte[] last;
  private final boolean keepsOwners;
  private final boolean exchanges;
  private final int longestTarget;
  private final long largestFile;
  private final NameLimits nameLimits;
  private String open = "";
  private int fd = -1;

  /**
   * Takes a store for a node.
   *
   * @param owner what identifies this node's front and, in another line, its mount
   * @param isHeld whether the front has operations that the store lacks
   * @throws ErrnoException EBUSY if another one has it, or had it although it was held, or if the
   *     operations are for another store; the message tells who
   */
  public DirectoryStore(Path directory, String owner, boolean isHeld) throws ErrnoException {
    this.tree = FileTree.openStore(directory);
    this.owner = owner.getBytes(StandardCharsets.UTF_8);
    boolean isNew = false;
    boolean isOpen = false;
    try {
      Optional<byte[]> there = content(OWNER);
      if (there.isEmpty() && isHeld) {
        throw Store.isNotHeld(directory.resolve(OWNER).toString());
      } else if (there.isEmpty()) {
        createOwner();
        isNew = true;
      } else if (!Arrays.equals(there.get(), this.owner)) {
        replaceOwner(there.get(), directory.resolve(OWNER), isHeld);
      }
      last = content(LAST).orElse(new byte[0]); // once nobody else may write it
      tree.learnMaker(OWNER);
      tree.removeProbe();
      removeLeftovers();
      keepsOwners = canGiveAway();
      if (!keepsOwners) {
        log.warn(
            "the store takes no owners (root_squash of NFS?): all files there are one user's, also"
                + " for a mount with a new front; export it with no_root_squash to keep them");
      }
      int type = type();
      exchanges = EXCHANGE.contains(type);
      longestTarget = longestTarget(type);
      largestFile = findLargestFile();
      nameLimits = NameLimits.find(longestName(), FileTree.PROBE + ".name", new Trial());
      isOpen = true;
    } finally {
      if (!isOpen) {
        if (isNew) {
          giveBack();
        }
        tree.close();
      }
    }
  }

  /** Gives the store free, which was free when this process took it. */
  private void giveBack() {
    try {
      tree.remove(OWNER, false);
    } catch (ErrnoException e) {
      log.warn("the store stays this node's: {}", e.getMessage());
    }
  }

  @Override
  public String lastMount() {
    return text(last);
  }

  @Override
  public void noteMount() throws ErrnoException {
    if (Arrays.equals(last, owner)) {
      return;
    }
    checkOwner();
    try {
      writeLast();
    } catch (ErrnoException e) {
      if (!e.is(Errno.EACCES) && !e.is(Errno.EPERM)) {
        throw e;
      }
      // it belongs to the user for whom the server took root at an earlier mount
      tree.remove(LAST, false);
      writeLast();
    }
    tree.sync("");
  }

  private void writeLast() throws ErrnoException {
    if (tree.find(LAST).isEmpty()) {
      LIBC.close(tree.create(LAST));
    }
    tree.chmod(LAST, FOR_ALL_TO_READ);
    overwrite(LAST); // a part of it names no mount
  }

  /** Returns what one of the store's own files has; empty if it is not there. */
  private Optional<byte[]> content(String name) throws ErrnoException {
    if (tree.find(name).isEmpty()) {
      return Optional.empty();
    }
    int file = tree.openRegular(name, Linux.O_RDONLY);
    long buffer = LIBC.malloc(LARGEST_OWNER);
    try {
      long length = LIBC.pread(file, buffer, LARGEST_OWNER, 0);
      if (length < 0) {
        throw ErrnoException.of(Linux.errno(), name);
      }
      return Optional.of(Memory.bytes(buffer, (int) length));
    } finally {
      LIBC.free(buffer);
      LIBC.close(file);
    }
  }

  /** Writes the owner over that of an earlier mount with the same front. */
  private void replaceOwner(byte[] there, Path file, boolean isHeld) throws ErrnoException {
    String mark = text(there);
    if (!Store.isOfFront(mark, text(owner), isHeld)) {
      throw ErrnoException.because(
          Errno.EBUSY,
          "",
          "the store is written by %s; if that is gone for good, remove %s and try again"
              .formatted(Store.describeWriter(mark, text(owner)), file));
    }
    if (isHeld) {
      throw Store.isOfAnEarlierMount(file.toString());
    }
    overwrite(OWNER); // whatever a crash leaves of both names the front, as both do
  }

  private static String text(byte[] mark) {
    return new String(mark, StandardCharsets.UTF_8);
  }

  private void overwrite(String name) throws ErrnoException {
    int file = tree.openRegular(name, FileTree.O_RDWR);
    try {
      tree.resize(name, owner.length);
      writeOwner(file, name);
    } finally {
      LIBC.close(file);
    }
  }

  private void writeOwner(int file, String name) throws ErrnoException {
    long buffer = LIBC.malloc(owner.length);
    try {
      Memory.put(buffer, owner, 0, owner.length);
      if (FileTree.write(file, buffer, owner.length, 0) < owner.length || LIBC.fsync(file) != 0) {
        throw ErrnoException.of(Linux.errno(), name);
      }
    } finally {
      LIBC.free(buffer);
    }
  }

  private void createOwner() throws ErrnoException {
    int file;
    try {
      file = tree.create(OWNER);
    } catch (ErrnoException e) {
      if (e.is(Errno.EEXIST)) {
        throw ErrnoException.because(
            Errno.EBUSY, "", "another node has just begun to write to the store");
      }
      throw e;
    }
    try {
      writeOwner(file, OWNER);
    } catch (ErrnoException e) {
      tree.remove(OWNER, false); // without a name in it, nobody could have the store
      throw e;
    } finally {
      LIBC.close(file);
    }
    tree.sync("");
  }

  /** Tells whether this process may give files of the store away, by the file that is its own. */
  private boolean canGiveAway() throws ErrnoException {
    int file = tree.openRegular(OWNER, Linux.O_RDONLY);
    try {
      int group = FileTree.stat(file).gid();
      long empty = Linux.scratch().path();
      Memory.putByte(empty, 0);
      return LIBC.fchownat(file, empty, -1, group + 1, Linux.AT_EMPTY_PATH) == 0
          && LIBC.fchownat(file, empty, -1, group, Linux.AT_EMPTY_PATH) == 0;
    } finally {
      LIBC.close(file);
    }
  }

  private int longestTarget(int type) {
    if (!EXCHANGE.contains(type) || type == XFS) {
      return LONGEST_TARGET_OF_ALL;
    }
    if (type == EXT4) { // a block, with a zero at the end
      long area = Linux.scratch().area();
      LIBC.fstatfs(tree.fd(), area);
      return (int) Math.min(LONGEST_TARGET, Memory.getLong(area + Long.BYTES) - 1);
    }
    return LONGEST_TARGET;
  }

  /** Returns the most bytes of a name, as the file system says. */
  private int longestName() {
    long area = Linux.scratch().area(); // struct statfs: 64 namelen i64
    boolean isKnown = LIBC.fstatfs(tree.fd(), area) == 0 && Memory.getLong(area + 64) > 0;
    return isKnown
        ? (int) Math.min(NameLimits.OF_LINUX.longest(), Memory.getLong(area + 64))
        : NameLimits.OF_LINUX.longest();
  }

  /** Tries out what the file system takes; also removes what a process that was killed has left. */
  private final class Trial implements NameLimits.Place {
    @Override
    public void tryOut(String name, int mode, long device) throws ErrnoException {
      removeIfThere(name);
      tree.make(name, mode, device, -1, -1, (mode & Stat.TYPE) == Stat.SYMLINK ? "target" : "");
      tree.remove(name, false);
    }

    @Override
    public boolean isFound(String name, String other) throws ErrnoException {
      removeIfThere(name);
      LIBC.close(tree.create(name));
      try {
        return tree.find(other).isPresent();
      } finally {
        tree.remove(name, false);
      }
    }

    private void removeIfThere(String name) throws ErrnoException {
      if (tree.find(name).isPresent()) {
        tree.remove(name, false);
      }
    }
  }

  /** Returns the type of the file system; 0 if it is not known. */
  private int type() {
    long area = Linux.scratch().area();
    return LIBC.fstatfs(tree.fd(), area) == 0 ? (int) Memory.getLong(area) : 0;
  }

  /** Finds the largest offset that the file system lets a reader seek to; changes nothing. */
  private long findLargestFile() throws ErrnoException {
    int file = tree.openRegular(OWNER, Linux.O_RDONLY);
    try {
      long possible = 0;
      long impossible = Long.MAX_VALUE;
      while (impossible - possible > 1) {
        long middle = possible + (impossible - possible) / 2;
        if (LIBC.lseek(file, middle, SEEK_SET) == middle) {
          possible = middle;
        } else {
          impossible = middle;
        }
      }
      return possible;
    } finally {
      LIBC.close(file);
    }
  }

  @Override
  public int longestTarget() {
    return longestTarget;
  }

  @Override
  public int mostLinks() {
    return MOST_LINKS;
  }

  @Override
  public NameLimits nameLimits() {
    return nameLimits;
  }

  @Override
  public long largestFile() {
    return largestFile;
  }

  @Override
  public boolean keepsOwners() {
    return keepsOwners;
  }

  @Override
  public boolean exchanges() {
    return exchanges;
  }

  @Override
  public boolean readsInPlace() {
    return true;
  }

  /** Returns the files. */
  FileTree tree() {
    return tree;
  }

  @Override
  public Stat stat(String path) throws ErrnoException {
    return tree.stat(path);
  }

  @Override
  public List<FileTree.Entry> list(String path) throws ErrnoException {
    return tree.list(path).stream()
        .filter(entry -> !HIDDEN.contains(FileTree.child(path, entry.name())))
        .toList();
  }

  @Override
  public String readLink(String path) throws ErrnoException {
    return tree.readLink(path);
  }

  @Override
  public List<String> xattrNames(String path) throws ErrnoException {
    return tree.xattrNames(path);
  }

  @Override
  public byte[] xattr(String path, String name) throws ErrnoException {
    return tree.xattr(path, name);
  }

  @Override
  public int openToRead(String path, Stat expected) throws ErrnoException {
    int file = tree.openRegular(path, Linux.O_RDONLY);
    try {
      Stat there = FileTree.stat(file);
      if (there.size() == expected.size() && (!keepsOwners || there.uid() == expected.uid())) {
        return file;
      }
    } catch (ErrnoException e) {
      LIBC.close(file);
      throw e;
    }
    LIBC.close(file);
    throw ErrnoException.because(
        Errno.EIO, path, "the store has another file in its place, of another size or owner");
  }

  @Override
  public void checkOwner() throws ErrnoException {
    if (content(OWNER).filter(there -> Arrays.equals(there, owner)).isEmpty()) {
      throw ErrnoException.because(
          Errno.EBUSY,
          OWNER,
          "another node has taken the store over: nothing is written to it from here any more");
    }
  }

  @Override
  public void write(String path, long address, int length, long offset) throws ErrnoException {
    if (!path.equals(open) || fd < 0) {
      closeFile();
      fd = tree.openRegular(path, FileTree.O_RDWR);
      open = path;
    }
    int written = FileTree.write(fd, address, length, offset);
    if (written < length) {
      int errno = Linux.errno();
      closeFile();
      throw withFix(ErrnoException.of(errno, path));
    }
  }

  @Override
  public void sync(long modified) throws ErrnoException {
    if (fd < 0) {
      return;
    }
    try {
      tree.times(open, FileTree.OMIT, modified);
      if (LIBC.fsync(fd) != 0) {
        throw withFix(ErrnoException.of(Linux.errno(), open));
      }
      LIBC.posix_fadvise(fd, 0, 0, Linux.POSIX_FADV_DONTNEED);
    } finally {
      closeFile();
    }
  }

  private void closeFile() {
    if (fd >= 0) {
      LIBC.close(fd);
      fd = -1;
    }
  }

  @Override
  public void apply(Operation operation) throws ErrnoException {
    try {
      operation.apply(tree);
    } catch (ErrnoException e) {
      boolean unsupported = e.is(Errno.EOPNOTSUPP) || isTooLarge(operation, e);
      boolean done =
          unsupported
              ? applyOtherwise(operation)
              : isGone(operation, e) || (isHeld(operation, e) && applyAside(operation));
      if (!done) {
        throw withFix(e);
      }
    }
    makeDurable(operation);
  }

  /** Says of a store without room how to make some: what programs remove comes behind. */
  private static ErrnoException withFix(ErrnoException e) {
    boolean isFull = e.is(Errno.ENOSPC) || e.is(Errno.EDQUOT);
    return isFull
        ? ErrnoException.because(
            e.is(Errno.ENOSPC) ? Errno.ENOSPC : Errno.EDQUOT,
            e.path(),
            Linux.describe(e.errno())
                + " (make room in the store itself: what is removed in the mount comes later)")
        : e;
  }

  /** Tells whether somebody has removed what is to be removed, perhaps to make room. */
  private static boolean isGone(Operation operation, ErrnoException e) {
    return operation instanceof Operation.Remove && e.is(Errno.ENOENT);
  }

  /**
   * Tells whether an operation has failed because NFS keeps files in a directory that were removed
   * there and are open on this node, perhaps for as long as a program likes.
   */
  private boolean isHeld(Operation operation, ErrnoException e) throws ErrnoException {
    if (!e.is(Errno.ENOTEMPTY) && !e.is(Errno.EEXIST)) {
      return false;
    }
    boolean isRemoval = operation instanceof Operation.Remove remove && remove.directory();
    boolean isReplacement = operation instanceof Operation.Rename rename && rename.flags() == 0;
    return (isRemoval || isReplacement)
        && tree.list(lastPath(operation)).stream().allMatch(DirectoryStore::isRemovedWhileOpen);
  }

  private static boolean isRemovedWhileOpen(FileTree.Entry entry) {
    return entry.type() != Stat.DIRECTORY && entry.name().startsWith(REMOVED_WHILE_OPEN);
  }

  private static String lastPath(Operation operation) {
    return operation.paths().get(operation.paths().size() - 1);
  }

  /** Removes or replaces a directory by giving it a name that is the store's own. */
  private boolean applyAside(Operation operation) throws ErrnoException {
    String path = lastPath(operation);
    removeLeftovers();
    if (tree.find(REMOVED).isEmpty()) {
      tree.make(REMOVED, Stat.DIRECTORY | 0700, 0, -1, -1, "");
      tree.sync("");
    }
    String inode = Long.toUnsignedString(tree.stat(path).inode());
    tree.rename(path, FileTree.child(REMOVED, inode), 0);
    tree.sync(REMOVED);
    if (operation instanceof Operation.Rename) {
      operation.apply(tree);
    }
    return true;
  }

  /** Removes the directories whose files nobody has open any more. */
  private void removeLeftovers() {
    try {
      if (tree.find(REMOVED).isEmpty()) {
        return;
      }
      for (FileTree.Entry directory : tree.list(REMOVED)) {
        String path = FileTree.child(REMOVED, directory.name());
        for (FileTree.Entry entry : tree.list(path)) {
          removeIfPossible(FileTree.child(path, entry.name()), false); // of a node that crashed
        }
        removeIfPossible(path, true);
      }
      removeIfPossible(REMOVED, true);
    } catch (ErrnoException e) {
      log.debug("removed directories stay in the store: {}", e.getMessage());
    }
  }

  private void removeIfPossible(String path, boolean directory) {
    try {
      tree.remove(path, directory);
    } catch (ErrnoException e) {
      log.debug("stays in the store: {}", e.getMessage());
    }
  }

  /**
   * Tells whether the file system cannot keep an attribute that the front can. The error is often
   * ENOSPC, although there is room.
   */
  private boolean isTooLarge(Operation operation, ErrnoException e) {
    return operation instanceof Operation.SetXattr
        && (e.is(Errno.E2BIG) || e.is(Errno.ERANGE) || (e.is(Errno.ENOSPC) && tree.hasRoom()));
  }

  /** Does what the file system cannot do itself, or leaves out what it cannot keep. */
  private boolean applyOtherwise(Operation operation) throws ErrnoException {
    if (operation instanceof Operation.SetXattr || operation instanceof Operation.RemoveXattr) {
      log.warn("the store keeps no such attribute: {}", FileTree.visible(operation.paths().get(0)));
      return true;
    }
    if (!(operation instanceof Operation.Allocate range)) {
      return false;
    }
    long size = tree.stat(range.path()).size();
    long end = range.offset() + range.length();
    boolean keepsSize = (range.mode() & Operation.Allocate.KEEP_SIZE) != 0;
    if ((range.mode() & ~Operation.Allocate.KEEP_SIZE) != 0) {
      zero(range.path(), range.offset(), Math.min(end, size));
    }
    if (!keepsSize && end > size) {
      tree.resize(range.path(), end);
    }
    return true;
  }

  private void zero(String path, long from, long to) throws ErrnoException {
    long zeroes = LIBC.malloc(ZEROES);
    try {
      Memory.clear(zeroes, ZEROES);
      for (long at = from; at < to; at += ZEROES) {
        write(path, zeroes, (int) Math.min(ZEROES, to - at), at);
      }
    } finally {
      closeFile();
      LIBC.free(zeroes);
    }
  }

  /** Syncs the file that has changed, or is new, or the directories with its names. */
  private void makeDurable(Operation operation) throws ErrnoException {
    if (operation instanceof Operation.Make make) {
      tree.sync(make.path()); // has got its owner and mode after its name
    }
    for (String path : operation.paths()) {
      tree.sync(operation.isRepeatable() ? path : directoryOf(operation, path));
    }
  }

  /** Returns the directory of a name; one above if somebody has removed it with all its names. */
  private String directoryOf(Operation operation, String path) throws ErrnoException {
    String directory = FileTree.parent(path);
    while (operation instanceof Operation.Remove
        && !directory.isEmpty()
        && tree.find(directory).isEmpty()) {
      directory = FileTree.parent(directory);
    }
    return directory;
  }

  @Override
  public long witness(Operation operation) throws ErrnoException {
    if (operation instanceof Operation.Make || operation instanceof Operation.Link) {
      String path = operation.paths().get(operation.paths().size() - 1);
      if (tree.find(path).isPresent()) {
        throw ErrnoException.because(
            Errno.EEXIST, path, "the store has it, and this node did not make it: take it away");
      }
    }
    return operation.witness(tree);
  }

  @Override
  public boolean isApplied(Operation operation, long witness) throws ErrnoException {
    if (!operation.isApplied(tree, witness)) {
      return false;
    }
    makeDurable(operation);
    return true;
  }

  @Override
  public void release(boolean nothingPending) {
    if (!nothingPending) {
      return; // only this front has what is missing
    }
    try {
      checkOwner();
      removeLeftovers();
      tree.remove(OWNER, false);
    } catch (ErrnoException e) {
      log.warn("the store stays this node's: {}", e.getMessage());
    }
  }

  @Override
  public void close() {
    closeFile();
    tree.close();
  }
}
