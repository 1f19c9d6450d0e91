package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.linux.Scratch;
import io.holdfast.fs.units.Visible;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import jnr.constants.platform.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files beneath an open directory, by their paths from there. A path has one character for each
 * byte of the names (ISO 8859-1), so that every name is kept as it is; the empty path is the root.
 * No symlink is followed and no path leads out. Thread-safe as the file system is.
 *
 * <p>Methods throw {@link ErrnoException} with the error of the system call that failed.
 */
public final class FileTree implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(FileTree.class);

  public static final int O_WRONLY = 1;
  public static final int O_RDWR = 2;
  public static final int O_CREAT = 0x40;
  public static final int O_EXCL = 0x80;
  public static final int O_TRUNC = 0x200;

  /** The name in the root of a store that a file has for a moment, which shows its owner. */
  static final String PROBE = Store.OWNER + ".probe";

  private static final int AT_REMOVEDIR = 0x200;
  private static final int STATX_BASIC = 0x7ff;
  private static final int PRIVATE = 0600;
  private static final int PRIVATE_DIRECTORY = 0700;
  private static final int DIRENT_NAME = 19;
  private static final long SECOND = 1_000_000_000L;

  /** The longest path, in bytes, and the most directories in it. */
  private static final int LONGEST_PATH = 4095;

  private static final int DEEPEST = 256;

  private final int root;

  /**
   * Whether this is a store, which programs can reach without the mount: owners that its file
   * system refuses to set are left out, and the set-user and set-group bits of regular files
   * always.
   */
  private final boolean isStore;

  /** Held while a file has another mode for a moment, and while a mode changes for good. */
  private final Object modes = new Object();

  /** The user whom the file system takes for the owner of what this process makes. */
  private volatile int maker = Procfs.ownUid();

  private FileTree(int root, boolean isStore) {
    this.root = root;
    this.isStore = isStore;
  }

  /** Opens a directory of this machine; follows symlinks on the way there. */
  public static FileTree open(Path directory) throws ErrnoException {
    return open(directory, false);
  }

  /** The same for a store. */
  static FileTree openStore(Path directory) throws ErrnoException {
    return open(directory, true);
  }

  private static FileTree open(Path directory, boolean isStore) throws ErrnoException {
    long path = Linux.scratch().path();
    Memory.putString(path, Linux.pathBytes(directory.toString()));
    int flags = Linux.O_RDONLY | Linux.O_DIRECTORY | Linux.O_CLOEXEC;
    int fd = LIBC.openat(Linux.AT_FDCWD, path, flags, 0);
    if (fd < 0) {
      throw ErrnoException.of(Linux.errno(), bytesAsText(Linux.pathBytes(directory.toString())));
    }
    return new FileTree(fd, isStore);
  }

  /** Learns whose the files are that this process makes here, as one of them shows. */
  void learnMaker(String made) throws ErrnoException {
    maker = stat(made).uid();
  }

  /**
   * Tells whether a user is the one whom this process's files have here now. A server of NFS may
   * have been told meanwhile to take root for another user, or for root again.
   */
  private boolean isMaker(int uid) throws ErrnoException {
    if (uid != maker && isStore) {
      removeProbe();
      int probe = create(PROBE);
      try {
        maker = stat(probe).uid(); // by its descriptor: others may put another file in its place
      } finally {
        LIBC.close(probe);
      }
      removeProbe();
    }
    return uid == maker;
  }

  /** Removes the file of a process that was killed while it asked whose its files are. */
  void removeProbe() throws ErrnoException {
    if (find(PROBE).isPresent()) {
      remove(PROBE, false);
    }
  }

  /** Returns the descriptor of the root, which stays with this object. */
  public int fd() {
    return root;
  }

  /** Returns a text with a character for each byte. */
  public static String bytesAsText(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  /** Returns the bytes of such a text. */
  public static byte[] textAsBytes(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** Returns a path as people may read it. */
  static String visible(String path) {
    return Visible.of(new String(textAsBytes(path), StandardCharsets.UTF_8));
  }

  /** Returns the path of the directory that has a name; empty for those in the root. */
  public static String parent(String path) {
    return path.substring(0, Math.max(0, path.lastIndexOf('/')));
  }

  /** Returns the last name of a path. */
  public static String name(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  /** Returns the path of a name in a directory. */
  public static String child(String directory, String name) {
    return directory.isEmpty() ? name : directory + "/" + name;
  }

  /**
   * Tells whether a path is longer or deeper than what is supported. Memory and stacks that a path
   * takes are bounded so.
   */
  static boolean isTooLong(String path) {
    return path.length() > LONGEST_PATH || depth(path) >= DEEPEST;
  }

  /** Returns the number of directories in a path. */
  static long depth(String path) {
    return path.chars().filter(c -> c == '/').count();
  }

  /** A system call about a name in a directory; returns a negative number if it failed. */
  @FunctionalInterface
  private interface Call {
    long on(int directory, long name);
  }

  private long at(String path, Call call) throws ErrnoException {
    return asOwner(parent(path), () -> atNow(path, call));
  }

  private long atNow(String path, Call call) throws ErrnoException {
    int directory = directory(parent(path));
    try {
      long result = call.on(directory, put(Linux.scratch().path(), name(path)));
      if (result < 0) {
        throw ErrnoException.of(Linux.errno(), path);
      }
      return result;
    } finally {
      LIBC.close(directory);
    }
  }

  private int directory(String path) throws ErrnoException {
    return open(path, Linux.O_PATH | Linux.O_DIRECTORY);
  }

  /** Writes a name; that of the root is a dot. */
  private static long put(long address, String name) throws ErrnoException {
    byte[] bytes = textAsBytes(name.isEmpty() ? "." : name);
    if (bytes.length > Scratch.PATH_CAPACITY) {
      throw ErrnoException.of(Errno.ENAMETOOLONG, name);
    }
    Memory.putString(address, bytes);
    return address;
  }

  /** Opens what is there, and returns a descriptor for the caller to close. */
  public int open(String path, int flags) throws ErrnoException {
    int fd = Linux.openBeneath(root, textAsBytes(path), flags | Linux.O_CLOEXEC);
    if (fd < 0) {
      throw ErrnoException.of(-fd, path);
    }
    return fd;
  }

  /** Opens a regular file; never waits, whatever is there in its place. */
  int openRegular(String path, int flags) throws ErrnoException {
    int fd = openAsOwner(path, flags | Linux.O_NONBLOCK);
    try {
      if (stat(fd).isRegular()) {
        return fd;
      }
    } catch (ErrnoException e) {
      LIBC.close(fd);
      throw e;
    }
    LIBC.close(fd);
    throw ErrnoException.because(Errno.EIO, path, "is no regular file any more");
  }

  /** A system call that needs rights to a file. */
  @FunctionalInterface
  private interface CallWithRights {
    long run() throws ErrnoException;
  }

  /**
   * Makes a system call, also in a store whose server takes root for the owner of all files
   * (root_squash of NFS), if a file's mode keeps the owner out: the file has another mode for a
   * moment. If this process is killed meanwhile, its owner has all rights to the file until the
   * next operation on its attributes.
   */
  private long asOwner(String path, CallWithRights call) throws ErrnoException {
    try {
      return call.run();
    } catch (ErrnoException e) {
      if (!isStore || !e.is(Errno.EACCES)) {
        throw e;
      }
      return withOwnersRights(path, call, e);
    }
  }

  /** Fails as the call did at first, if the mode cannot be changed. */
  private long withOwnersRights(String path, CallWithRights call, ErrnoException denied)
      throws ErrnoException {
    synchronized (modes) {
      boolean hasRights = false;
      int fd = -1;
      try {
        fd = open(path, Linux.O_PATH);
        Stat stat = stat(fd);
        int permissions = stat.mode() & ~Stat.TYPE;
        chmod(fd, stat, permissions | (stat.isDirectory() ? PRIVATE_DIRECTORY : PRIVATE), path);
        hasRights = true;
        try {
          return call.run();
        } finally {
          takeBack(fd, stat, permissions, path);
        }
      } catch (ErrnoException e) {
        if (hasRights) {
          throw e;
        }
        denied.addSuppressed(e);
        throw denied;
      } finally {
        if (fd >= 0) {
          LIBC.close(fd);
        }
      }
    }
  }

  /** The call has done its work, whatever becomes of the mode. */
  private void takeBack(int fd, Stat stat, int permissions, String path) {
    try {
      chmod(fd, stat, permissions, path);
    } catch (ErrnoException e) {
      log.warn("its owner has more rights than it should: {}", e.getMessage());
    }
  }

  private int openAsOwner(String path, int flags) throws ErrnoException {
    return (int) asOwner(path, () -> open(path, flags));
  }

  /** Creates a regular file that must not be there, for its owner only, and opens it. */
  public int create(String path) throws ErrnoException {
    int flags = O_RDWR | O_CREAT | O_EXCL | Linux.O_NOFOLLOW | Linux.O_CLOEXEC;
    return (int) at(path, (dir, name) -> LIBC.openat(dir, name, flags, PRIVATE));
  }

  /** Returns the attributes. */
  public Stat stat(String path) throws ErrnoException {
    long to = Linux.scratch().area();
    at(path, (dir, name) -> LIBC.statx(dir, name, Linux.AT_SYMLINK_NOFOLLOW, STATX_BASIC, to));
    return statAt(to);
  }

  /** Returns the attributes; nothing if there is no such name. */
  public Optional<Stat> find(String path) throws ErrnoException {
    try {
      return Optional.of(stat(path));
    } catch (ErrnoException e) {
      if (e.is(Errno.ENOENT) || e.is(Errno.ENOTDIR) || e.is(Errno.ELOOP)) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Returns the attributes of an open file. */
  public static Stat stat(int fd) throws ErrnoException {
    long to = Linux.scratch().area();
    long name = put(Linux.scratch().path(), ".");
    Memory.putByte(name, 0);
    if (LIBC.statx(fd, name, Linux.AT_EMPTY_PATH, STATX_BASIC, to) != 0) {
      throw ErrnoException.of(Linux.errno(), "");
    }
    return statAt(to);
  }

  /** struct statx: 16 nlink, 20 uid, 24 gid, 28 mode u16, 32 ino, 40 size, 48 blocks, times. */
  private static Stat statAt(long at) {
    int major = Memory.getInt(at + 128);
    int minor = Memory.getInt(at + 132);
    return new Stat(
        Memory.getLong(at + 32),
        Memory.getShort(at + 28),
        Memory.getInt(at + 16),
        Memory.getInt(at + 20),
        Memory.getInt(at + 24),
        (minor & 0xff) | ((long) major << 8) | ((long) (minor & ~0xff) << 12),
        Memory.getLong(at + 40),
        Memory.getLong(at + 48),
        time(at + 64),
        time(at + 112),
        time(at + 96));
  }

  /** Returns the number of the file system that has an open file; struct statx: 136 dev. */
  private static long fileSystem(int fd) throws ErrnoException {
    Stat unused = stat(fd);
    return Memory.getLong(Linux.scratch().area() + 136);
  }

  private static long time(long at) {
    return Memory.getLong(at) * SECOND + Memory.getInt(at + 8);
  }

  /**
   * Makes a file of any type, with exactly this mode and owner. Nobody else can open it before it
   * has them.
   *
   * @param mode type and permissions
   * @param device the number of a device file, as the kernel encodes it
   * @param target of a symlink; empty otherwise
   */
  public void make(String path, int mode, long device, int uid, int gid, String target)
      throws ErrnoException {
    switch (mode & Stat.TYPE) {
      case Stat.DIRECTORY -> at(path, (dir, name) -> LIBC.mkdirat(dir, name, PRIVATE));
      case Stat.SYMLINK -> {
        long to = put(Linux.scratch().area() + Scratch.PATH_CAPACITY, target);
        at(path, (dir, name) -> LIBC.symlinkat(to, dir, name));
      }
      default ->
          at(path, (dir, name) -> LIBC.mknodat(dir, name, (mode & Stat.TYPE) | PRIVATE, device));
    }
    try {
      giveAway(path, mode, uid, gid);
    } catch (ErrnoException e) {
      if (!e.is(Errno.EBUSY)) {
        remove(path, (mode & Stat.TYPE) == Stat.DIRECTORY);
      }
      throw e;
    }
  }

  /**
   * Gives what {@link #make} has made to its owner, perhaps a second time. Whoever may write to the
   * directory can put something else in its place meanwhile, such as a file of a third user: that
   * one stays as it is.
   */
  void giveAway(String path, int mode, int uid, int gid) throws ErrnoException {
    int fd = open(path, Linux.O_PATH | Linux.O_NOFOLLOW);
    try {
      Stat made = stat(fd);
      if ((made.mode() & Stat.TYPE) != (mode & Stat.TYPE)
          || (made.uid() != uid && !isMaker(made.uid()))
          || (isStore && !made.isDirectory() && made.links() != 1)) {
        throw ErrnoException.because(
            Errno.EBUSY, path, "somebody else has put another file in the place of a new one");
      }
      long none = put(Linux.scratch().path(), ".");
      Memory.putByte(none, 0);
      if (LIBC.fchownat(fd, none, uid, gid, Linux.AT_EMPTY_PATH) != 0) {
        int errno = Linux.errno();
        if (!isStore || errno != Errno.EPERM.intValue()) {
          throw ErrnoException.of(errno, path);
        }
      }
      if (!made.isSymlink()) {
        chmod(fd, made, mode & ~Stat.TYPE, path);
      }
    } finally {
      LIBC.close(fd);
    }
  }

  /**
   * Changes the permissions of a file that is open, perhaps as a mere path: the way to it leads to
   * no other, whatever has its name by now.
   */
  private void chmod(int fd, Stat stat, int permissions, String path) throws ErrnoException {
    boolean dropsBits = isStore && stat.isRegular();
    int kept = dropsBits ? permissions & ~(Stat.SET_USER | Stat.SET_GROUP) : permissions;
    long name = put(Linux.scratch().path(), "/proc/self/fd/" + fd);
    synchronized (modes) {
      if (LIBC.fchmodat(Linux.AT_FDCWD, name, kept, 0) != 0) {
        throw ErrnoException.of(Linux.errno(), path);
      }
    }
  }

  /** Changes the owner and the group; -1 leaves one as it is. */
  public void own(String path, int uid, int gid) throws ErrnoException {
    try {
      at(path, (dir, name) -> LIBC.fchownat(dir, name, uid, gid, Linux.AT_SYMLINK_NOFOLLOW));
    } catch (ErrnoException e) {
      if (!isStore || !e.is(Errno.EPERM)) {
        throw e;
      }
    }
  }

  /** Changes the permissions. The path must not be that of a symlink. */
  public void chmod(String path, int permissions) throws ErrnoException {
    int fd = open(path, Linux.O_PATH | Linux.O_NOFOLLOW);
    try {
      Stat stat = stat(fd);
      if (stat.isSymlink()) {
        throw ErrnoException.of(Errno.EOPNOTSUPP, path);
      }
      chmod(fd, stat, permissions, path);
    } finally {
      LIBC.close(fd);
    }
  }

  /** Sets times, in nanoseconds of the epoch; a negative one of -1 leaves a time as it is. */
  public void times(String path, long accessed, long modified) throws ErrnoException {
    long area = Linux.scratch().area() + Scratch.PATH_CAPACITY;
    Memory.putLong(area, Math.floorDiv(accessed, SECOND));
    Memory.putLong(area + 8, accessed == OMIT ? UTIME_OMIT : Math.floorMod(accessed, SECOND));
    Memory.putLong(area + 16, Math.floorDiv(modified, SECOND));
    Memory.putLong(area + 24, modified == OMIT ? UTIME_OMIT : Math.floorMod(modified, SECOND));
    at(path, (dir, name) -> LIBC.utimensat(dir, name, area, Linux.AT_SYMLINK_NOFOLLOW));
  }

  /** The time that {@link #times} does not set. */
  public static final long OMIT = Long.MIN_VALUE;

  private static final long UTIME_OMIT = (1L << 30) - 2;

  /** Gives a file another name, too. */
  public void link(String existing, String path) throws ErrnoException {
    long unused =
        two(existing, path, (from, name, to, other) -> LIBC.linkat(from, name, to, other, 0));
  }

  /** Renames, with the flags of renameat2. */
  public void rename(String from, String to, int flags) throws ErrnoException {
    CallOfTwo call = (dir, name, other, next) -> LIBC.renameat2(dir, name, other, next, flags);
    long unused = asOwner(from, () -> two(from, to, call)); // a directory has its parent's name
  }

  /** A system call about two names. */
  @FunctionalInterface
  private interface CallOfTwo {
    int on(int from, long name, int to, long other);
  }

  private long two(String path, String other, CallOfTwo call) throws ErrnoException {
    return asOwner(parent(path), () -> asOwner(parent(other), () -> twoNow(path, other, call)));
  }

  private long twoNow(String path, String other, CallOfTwo call) throws ErrnoException {
    int from = directory(parent(path));
    try {
      int to = directory(parent(other));
      try {
        long name = put(Linux.scratch().path(), name(path));
        long next = put(Linux.scratch().area(), name(other));
        if (call.on(from, name, to, next) != 0) {
          throw ErrnoException.of(Linux.errno(), path);
        }
        return 0;
      } finally {
        LIBC.close(to);
      }
    } finally {
      LIBC.close(from);
    }
  }

  /** Removes a name, of a directory or of anything else. */
  public void remove(String path, boolean directory) throws ErrnoException {
    at(path, (dir, name) -> LIBC.unlinkat(dir, name, directory ? AT_REMOVEDIR : 0));
  }

  /** Sets the size of a regular file. */
  public void resize(String path, long size) throws ErrnoException {
    withFile(path, fd -> LIBC.ftruncate(fd, size));
  }

  /** Allocates, punches or zeroes a range, with the modes of fallocate. */
  public void allocate(String path, int mode, long offset, long length) throws ErrnoException {
    withFile(path, fd -> LIBC.fallocate(fd, mode, offset, length));
  }

  /** A system call about an open file. */
  @FunctionalInterface
  private interface CallOfFile {
    int on(int fd);
  }

  private void withFile(String path, CallOfFile call) throws ErrnoException {
    int fd = openRegular(path, O_RDWR);
    try {
      if (call.on(fd) != 0) {
        throw ErrnoException.of(Linux.errno(), path);
      }
    } finally {
      LIBC.close(fd);
    }
  }

  /** Returns where a symlink leads. */
  public String readLink(String path) throws ErrnoException {
    long area = Linux.scratch().area();
    int most = Scratch.PATH_CAPACITY + 1;
    int length = (int) at(path, (dir, name) -> LIBC.readlinkat(dir, name, area, most));
    return bytesAsText(Memory.bytes(area, length));
  }

  /** An entry of a directory; the type is as in a mode. */
  public record Entry(String name, int type, long inode) {}

  /**
   * Lists a directory, without itself and its parent.
   *
   * @throws ErrnoException EXDEV if this is a store, and the directory is on another file system
   *     than its root: no rename leads there, and its inodes are other files'
   */
  public List<Entry> list(String path) throws ErrnoException {
    int fd = openAsOwner(path, Linux.O_RDONLY | Linux.O_DIRECTORY);
    List<Entry> entries = new ArrayList<>();
    try {
      if (isStore && fileSystem(fd) != fileSystem(root)) {
        throw ErrnoException.because(
            Errno.EXDEV,
            path,
            "is on another file system than the store's root (a mount, an export or a subvolume"
                + " inside of the store): give a store that is on one file system");
      }
      boolean more = true;
      while (more) {
        more = readEntries(fd, path, entries);
      }
    } finally {
      LIBC.close(fd);
    }
    for (int i = 0; i < entries.size(); i++) {
      Entry entry = entries.get(i);
      if (entry.type() == 0) {
        int mode = stat(child(path, entry.name())).mode();
        entries.set(i, new Entry(entry.name(), mode & Stat.TYPE, entry.inode()));
      }
    }
    return entries;
  }

  /** Tells whether a directory has no entries; reads no more of them than it needs. */
  boolean isEmpty(String path) throws ErrnoException {
    int fd = openAsOwner(path, Linux.O_RDONLY | Linux.O_DIRECTORY);
    try {
      List<Entry> entries = new ArrayList<>();
      boolean more = true;
      while (more && entries.isEmpty()) {
        more = readEntries(fd, path, entries);
      }
      return entries.isEmpty();
    } finally {
      LIBC.close(fd);
    }
  }

  /** Adds the next entries of an open directory; returns false at its end. */
  private static boolean readEntries(int fd, String path, List<Entry> to) throws ErrnoException {
    long area = Linux.scratch().area();
    long length = LIBC.getdents64(fd, area, Scratch.AREA_CAPACITY);
    if (length < 0) {
      throw ErrnoException.of(Linux.errno(), path);
    }
    int at = 0;
    while (at < length) {
      String name = bytesAsText(Memory.string(area + at + DIRENT_NAME));
      if (!name.equals(".") && !name.equals("..")) {
        int type = Memory.getByte(area + at + DIRENT_NAME - 1) << 12;
        to.add(new Entry(name, type, Memory.getLong(area + at)));
      }
      at += Memory.getShort(area + at + DIRENT_NAME - 3);
    }
    return length > 0;
  }

  /** Sets an extended attribute. */
  public void setXattr(String path, String name, byte[] value, int flags) throws ErrnoException {
    long memory = LIBC.malloc(value.length + 1L);
    Memory.put(memory, value, 0, value.length);
    try {
      xattr(path, name, (file, key) -> LIBC.lsetxattr(file, key, memory, value.length, flags));
    } finally {
      LIBC.free(memory);
    }
  }

  /** Removes an extended attribute. */
  public void removeXattr(String path, String name) throws ErrnoException {
    xattr(path, name, LIBC::lremovexattr);
  }

  /** Returns an extended attribute. */
  public byte[] xattr(String path, String name) throws ErrnoException {
    long memory = LIBC.malloc(LARGEST_XATTR);
    try {
      long length =
          xattr(path, name, (file, key) -> LIBC.lgetxattr(file, key, memory, LARGEST_XATTR));
      return Memory.bytes(memory, (int) length);
    } finally {
      LIBC.free(memory);
    }
  }

  /** Returns the names of the extended attributes. */
  public List<String> xattrNames(String path) throws ErrnoException {
    long memory = LIBC.malloc(LARGEST_XATTR);
    try {
      long length;
      try {
        length = xattr(path, "", (file, key) -> LIBC.llistxattr(file, memory, LARGEST_XATTR));
      } catch (ErrnoException e) {
        if (e.is(Errno.EOPNOTSUPP)) {
          return List.of(); // the file system has none
        }
        throw e;
      }
      String names = bytesAsText(Memory.bytes(memory, (int) length));
      return names.isEmpty() ? List.of() : List.of(names.split("\0"));
    } finally {
      LIBC.free(memory);
    }
  }

  private static final int LARGEST_XATTR = 64 << 10;
  private static final long SOME_ROOM = 1 << 20;

  /** A system call about an attribute of a path. */
  @FunctionalInterface
  private interface CallOfXattr {
    long on(long path, long name);
  }

  private long xattr(String path, String name, CallOfXattr call) throws ErrnoException {
    return asOwner(path, () -> asOwner(parent(path), () -> xattrNow(path, name, call)));
  }

  /** The calls take paths only; the way to the open directory is one. */
  private long xattrNow(String path, String name, CallOfXattr call) throws ErrnoException {
    int directory = directory(parent(path));
    try {
      String file = "/proc/self/fd/" + directory + "/" + name(path);
      long at = put(Linux.scratch().path(), file);
      long key = put(Linux.scratch().area(), name);
      long result = call.on(at, key);
      if (result < 0) {
        throw ErrnoException.of(Linux.errno(), path);
      }
      return result;
    } finally {
      LIBC.close(directory);
    }
  }

  /** Tells whether the file system has room for any attribute. */
  boolean hasRoom() {
    long area = Linux.scratch().area(); // struct statvfs: 8 frsize u64, 32 bavail u64
    return LIBC.fstatvfs(root, area) == 0
        && Memory.getLong(area + 32) * Memory.getLong(area + 8) > SOME_ROOM;
  }

  /** Has the file system make a file or a directory durable. */
  public void sync(String path) throws ErrnoException {
    Stat stat = stat(path);
    if (!stat.isRegular() && !stat.isDirectory()) {
      return; // has no content of its own; its name is the directory's
    }
    int fd = openAsOwner(path, Linux.O_RDONLY | Linux.O_NONBLOCK);
    try {
      if (LIBC.fsync(fd) != 0) {
        throw ErrnoException.of(Linux.errno(), path);
      }
    } finally {
      LIBC.close(fd);
    }
  }

  /** Reads exactly so many bytes of an open file, or fails. */
  static void readFully(int fd, long buffer, int length, long offset, String path)
      throws ErrnoException {
    int done = 0;
    while (done < length) {
      long count = LIBC.pread(fd, buffer + done, length - done, offset + done);
      if (count < 0) {
        throw ErrnoException.of(Linux.errno(), path);
      }
      if (count == 0) {
        throw ErrnoException.because(Errno.EIO, path, "the file is shorter than was written");
      }
      done += (int) count;
    }
  }

  /** Writes to an open file; returns how many bytes it took, fewer than asked only if it fails. */
  static int write(int fd, long buffer, int length, long offset) {
    int done = 0;
    while (done < length) {
      long count = LIBC.pwrite(fd, buffer + done, length - done, offset + done);
      if (count <= 0) {
        return done;
      }
      done += (int) count;
    }
    return done;
  }

  @Override
  public void close() {
    LIBC.close(root);
  }
}
