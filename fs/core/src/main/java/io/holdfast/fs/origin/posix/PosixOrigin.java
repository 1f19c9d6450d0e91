package io.holdfast.fs.origin.posix;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.linux.Scratch;
import io.holdfast.fs.origin.Acl;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.DirectoryWalk;
import io.holdfast.fs.origin.KnownEntries;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.OriginFile;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.StoreFigures;
import io.holdfast.fs.origin.Version;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import jnr.constants.platform.Errno;
import org.jspecify.annotations.Nullable;

/**
 * An origin that is a directory of this machine. It keeps a descriptor of the directory, so that it
 * can still read the directory after Holdfast has been mounted over it. It resolves every path
 * beneath that descriptor with openat2, which never follows a symlink.
 */
public final class PosixOrigin implements Origin {
  /** Filesystems whose page cache is the store itself, so that there is no second copy to drop. */
  private static final Set<Integer> MEMORY_TYPES = Set.of(0x01021994, 0x858458F6);

  /** linux_dirent64: u64 ino, s64 off, u16 reclen, u8 type, name. */
  private static final int DIRENT_RECLEN = 16;

  private static final int DIRENT_TYPE = 18;
  private static final int DIRENT_NAME = 19;
  private static final int DT_TO_MODE_SHIFT = 12;

  /** The errno of an entry that was removed after it was listed. */
  private static final int GONE = Errno.ENOENT.intValue();

  private static final int STATVFS_FIELDS = 11;

  /**
   * How many names a listing asks for at most before it passes their entries on, in a store that
   * may hang: a caller with a deadline sees progress. Each time costs a look at the way.
   */
  private static final int FEW = 64;

  private static final Duration TYPE_WAIT = Duration.ofSeconds(1);

  private final Path directory;
  private final int root;
  private final boolean mayHang;
  private final boolean heldInMemory;
  private final QuietTime quietTime;
  private final StoreAcls acls;
  private final InodeNumbers inodeNumbers;

  /** Reads pieces of a file at the same time; null where the store has no latency. */
  private final @Nullable ExecutorService readers;

  private final AtomicBoolean closed = new AtomicBoolean();

  private PosixOrigin(Path directory, int root, int type, InstantSource clock) {
    this.directory = directory;
    this.root = root;
    this.mayHang = !LocalFilesystems.contain(type) || !LocalFilesystems.areAllBelow(root);
    this.heldInMemory = MEMORY_TYPES.contains(type);
    this.quietTime = new QuietTime(clock);
    this.acls = new StoreAcls(!mayHang, clock);
    this.inodeNumbers =
        new InodeNumbers(root, mayHang ? device -> {} : LocalFilesystems::warnOfOther);
    this.readers = mayHang ? PosixFile.readers() : null;
  }

  /**
   * Opens a directory as an origin.
   *
   * @param clock the time of day by which the store writes its times
   * @throws FsException where the directory is missing, no directory, or not readable
   */
  public static PosixOrigin open(Path directory, InstantSource clock) throws FsException {
    long path = Linux.scratch().path();
    byte[] bytes = Linux.pathBytes(directory.toString());
    if (bytes.length > Scratch.PATH_CAPACITY) {
      throw new FsException(FsError.NAME_TOO_LONG, directory + ": path too long");
    }
    Memory.putString(path, bytes);
    int flags = Linux.O_RDONLY | Linux.O_DIRECTORY | Linux.O_CLOEXEC;
    return of(LIBC.openat(Linux.AT_FDCWD, path, flags, 0), directory, clock);
  }

  /**
   * Opens a directory by a descriptor, since its path may no longer lead to it. Does not wait for
   * the store, which may hang while one daemon follows another.
   *
   * @param fd a descriptor of the directory; stays the caller's
   */
  public static PosixOrigin open(int fd, Path directory, InstantSource clock) throws FsException {
    return of(LIBC.fcntl(fd, Linux.F_DUPFD_CLOEXEC, 0), directory, clock);
  }

  /**
   * Makes sure that the open directory is the one that its path named, without symlinks, when the
   * path was checked. A user who owns a directory above it may have put a symlink there between the
   * check and the opening, and root would show other users a directory that they may not read.
   *
   * @throws FsException STALE if it is another one
   */
  public void requirePlace() throws FsException {
    Path opened;
    try {
      opened = Files.readSymbolicLink(Path.of(Linux.descriptorPath(root)));
    } catch (IOException e) {
      throw new FsException(FsError.IO, directory + ": " + e.getMessage(), e);
    }
    if (!opened.equals(directory)) {
      throw new FsException(
          FsError.STALE,
          directory
              + " was replaced while the mount began, and leads to "
              + opened
              + " now: mount again");
    }
  }

  private static PosixOrigin of(int root, Path directory, InstantSource clock) throws FsException {
    if (root < 0) {
      throw Linux.failure(Linux.errno(), directory.toString());
    }
    return new PosixOrigin(directory, root, typeOf(root), clock);
  }

  /** Returns the type of a store; 0 where the store does not answer in time. */
  private static int typeOf(int root) {
    FutureTask<Integer> type =
        new FutureTask<>(
            () -> {
              long area = Linux.scratch().area();
              return LIBC.fstatfs(root, area) == 0 ? (int) Memory.getLong(area) : 0;
            });
    NamedThreads.start("origin-type", type);
    try {
      return type.get(TYPE_WAIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      return 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 0;
    }
  }

  @Override
  public String describe() {
    return directory.toString();
  }

  /**
   * Returns path, inode with its birth time, device, and what is mounted there: another directory
   * at the same path is another inode, or is on another device. Roots of filesystems have the same
   * inode number, and the next network filesystem gets the device number of the one before.
   */
  @Override
  public String identity() throws FsException {
    String mounted = mounted();
    check(Statx.call(root), OriginPath.ROOT);
    return "%s, inode %d of %d, of device %d, %s"
        .formatted(describe(), Statx.attributes().inode(), Statx.born(), Statx.onDevice(), mounted);
  }

  private String mounted() throws FsException {
    try {
      int number = Linux.mountNumber(root);
      return MountTable.read()
          .numbered(number)
          .map(mount -> mount.type() + " " + mount.source())
          .orElse("in no mount that is seen");
    } catch (IOException e) {
      throw new FsException(FsError.IO, "the mount table cannot be read: " + e.getMessage(), e);
    }
  }

  @Override
  public boolean mayHang() {
    return mayHang;
  }

  @Override
  public boolean mayHaveAcls() {
    return true;
  }

  @Override
  public Attributes stat(OriginPath path) throws FsException {
    return stat(path, null);
  }

  @Override
  public Attributes stat(OriginPath path, @Nullable Attributes known) throws FsException {
    int fd = openOnly(path);
    try {
      return attributes(fd, known, path);
    } finally {
      LIBC.close(fd);
    }
  }

  @Override
  public void sync(OriginPath path) throws FsException {
    if (!mayHang) {
      return;
    }
    try {
      int fd = openOnly(path);
      try {
        check(Statx.call(fd, Statx.FORCE_SYNC), path);
      } finally {
        LIBC.close(fd);
      }
    } catch (FsException e) {
      switch (e.code()) {
        case NOT_FOUND, NOT_DIRECTORY, SYMLINK, STALE, ACCESS_DENIED, NOT_PERMITTED -> {}
        default -> throw e;
      }
    }
  }

  private Attributes attributes(int fd, @Nullable Attributes known, OriginPath path)
      throws FsException {
    check(Statx.call(fd), path);
    return withAcl(path, known, AskedEntry.of(fd));
  }

  /** Returns the attributes that {@link Statx} has just read. */
  private Attributes attributes(OriginPath path) {
    return inodeNumbers.of(Statx.attributes(), Statx.onDevice(), path);
  }

  /** The same with the entry's ACL. */
  private Attributes withAcl(OriginPath path, @Nullable Attributes known, StoreAcls.Entry entry) {
    Attributes stat = Statx.attributes();
    long device = Statx.onDevice();
    Attributes numbered = inodeNumbers.of(stat, device, path);
    if (!acls.mayHave(stat, device)) {
      return numbered;
    }
    Attributes carriedOver = Acl.carriedOver(known, numbered);
    return carriedOver == null
        ? inodeNumbers.of(acls.ask(stat, device, entry), device, path)
        : carriedOver;
  }

  /**
   * Opens the directory and looks the name up from there, so that a directory that is moved or
   * replaced meanwhile cannot lend the entry its rights. Reads the directories' attributes last:
   * they tell whether a user may still pass.
   */
  @Override
  public Found find(
      OriginPath directory, byte[] name, List<Attributes> way, @Nullable Attributes known)
      throws FsException {
    if (!DirectoryPath.isName(name)) {
      throw new FsException(FsError.NOT_FOUND, directory + ": no name of an entry");
    }
    int fd = openBeneath(directory, DirectoryPath.FLAGS);
    try {
      OriginPath path = directory.child(name);
      check(Statx.call(fd, name), path);
      Attributes entry = withAcl(path, known, AskedEntry.of(fd, name));
      return new Found(entry, way(directory).now(fd, way, way.size() > 1));
    } finally {
      LIBC.close(fd);
    }
  }

  @Override
  public FoundEntries findAll(OriginPath directory, List<KnownEntry> entries, List<Attributes> way)
      throws FsException {
    int fd = openBeneath(directory, DirectoryPath.FLAGS);
    try {
      List<@Nullable Attributes> found = new ArrayList<>(entries.size());
      for (KnownEntry entry : entries) {
        byte[] name = entry.name().bytes();
        boolean isThere = DirectoryPath.isName(name) && Statx.call(fd, name) == 0;
        found.add(
            isThere
                ? withAcl(directory.child(name), entry.attributes(), AskedEntry.of(fd, name))
                : null);
      }
      return new FoundEntries(found, way(directory).now(fd, way, way.size() > 1));
    } finally {
      LIBC.close(fd);
    }
  }

  private DirectoryPath way(OriginPath directory) {
    return new DirectoryPath(
        root,
        directory,
        (fd, known) -> attributes(fd, known, directory),
        () -> attributes(directory));
  }

  @Override
  public byte[] readLink(OriginPath path, Attributes known) throws FsException {
    int fd = openOnly(path);
    try {
      requireSame(fd, path, known);
      Scratch scratch = Linux.scratch();
      Memory.putByte(scratch.path(), 0);
      long length = LIBC.readlinkat(fd, scratch.path(), scratch.area(), Scratch.PATH_CAPACITY);
      if (length < 0) {
        // readlinkat reports "not a symlink" for an empty path as ENOENT
        int errno = Linux.errno();
        throw Linux.code(errno) == FsError.NOT_FOUND
            ? new FsException(FsError.INVALID, path + ": not a symlink")
            : Linux.failure(errno, path.toString());
      }
      return Memory.bytes(scratch.area(), (int) length);
    } finally {
      LIBC.close(fd);
    }
  }

  @Override
  public void list(OriginPath path, EntrySink sink) throws FsException {
    int fd =
        openBeneath(path, Linux.O_RDONLY | Linux.O_DIRECTORY | Linux.O_NOFOLLOW | Linux.O_CLOEXEC);
    int sync = mayHang && sink.isSynced() ? Statx.FORCE_SYNC : 0;
    // not the thread's scratch memory: the sink may use it
    long buffer = LIBC.malloc(Scratch.AREA_CAPACITY);
    try {
      if (buffer == 0) {
        throw OutOfMemory.outsideHeap("a listing");
      }
      if (sync != 0) {
        // else the client lists the names that it knows
        check(Statx.call(fd, sync), path);
      }
      while (true) {
        long length = LIBC.getdents64(fd, buffer, Scratch.AREA_CAPACITY);
        if (length < 0) {
          throw Linux.failure(Linux.errno(), path.toString());
        }
        if (length == 0) {
          return;
        }
        list(path, fd, new Names(buffer, buffer + length, sync), sink);
      }
    } finally {
      LIBC.free(buffer);
      LIBC.close(fd);
    }
  }

  /**
   * Names that one getdents64 has given.
   *
   * @param sync {@link Statx#FORCE_SYNC} or 0, for their attributes
   */
  private record Names(long begin, long end, int sync) {}

  /**
   * Passes the entries of the names that one getdents64 has given, each behind a look at the way.
   */
  private void list(OriginPath path, int directory, Names names, EntrySink sink)
      throws FsException {
    int most = mayHang ? FEW : Integer.MAX_VALUE;
    KnownEntries known = sink.known();
    List<Consumer<EntrySink>> entries = new ArrayList<>();
    int asked = 0;
    for (long at = names.begin; at < names.end; at += Memory.getShort(at + DIRENT_RECLEN)) {
      byte[] name = Memory.string(at + DIRENT_NAME);
      if (!DirectoryPath.isName(name)) {
        continue;
      }
      if (asked == most) {
        pass(entries, way(path).now(directory, List.of(), true), sink);
        entries.clear();
        asked = 0;
      }
      asked++;
      int type = Memory.getByte(at + DIRENT_TYPE) << DT_TO_MODE_SHIFT;
      long inode = Memory.getLong(at);
      int errno = Statx.call(directory, name, names.sync);
      if (errno == 0) {
        StoreAcls.Entry entry = AskedEntry.of(directory, name);
        Attributes attributes = withAcl(path.child(name), known.attributes(name), entry);
        entries.add(to -> to.entry(name, type, attributes.inode(), attributes));
      } else if (errno != GONE) {
        FsException cause = Linux.failure(errno, path.child(name).toString());
        entries.add(to -> to.unread(name, type, inode, cause));
      }
    }
    pass(entries, way(path).now(directory, List.of(), true), sink);
  }

  private static void pass(List<Consumer<EntrySink>> entries, List<Attributes> way, EntrySink sink)
      throws FsException {
    sink.way(way);
    entries.forEach(entry -> entry.accept(sink));
  }

  @Override
  public void scan(OriginPath directory, Executor threads, ScanSink sink) throws FsException {
    new DirectoryWalk(this::list, threads, sink).walk(directory);
  }

  @Override
  public long quietNanos(Version version) {
    return quietTime.left(version.changed());
  }

  /**
   * Opens a file after its {@linkplain QuietTime quiet time}, so that a writer has ended before the
   * file is read. A caller that has waited for {@link #quietNanos} does not wait here.
   */
  @Override
  public OriginFile open(OriginPath path, Part part) throws FsException {
    quietTime.awaitAfter(part.version().changed());
    // NONBLOCK: a path that became a FIFO must not hold the thread
    int flags = Linux.O_RDONLY | Linux.O_NOFOLLOW | Linux.O_CLOEXEC | Linux.O_NONBLOCK;
    int fd = Linux.openBeneath(root, path.bytes(), flags | Linux.O_NOATIME);
    if (fd < 0 && Linux.code(-fd) == FsError.NOT_PERMITTED) {
      // only an owner may leave the access time alone
      fd = Linux.openBeneath(root, path.bytes(), flags);
    }
    check(Math.max(0, -fd), path);
    return new PosixFile(path, fd, heldInMemory, readers, () -> attributes(path));
  }

  @Override
  public byte[] extendedAttribute(OriginPath path, Attributes known, byte[] name)
      throws FsException {
    return withProcPath(
        path,
        known,
        (procPath, area) -> {
          Memory.putString(area, name);
          long value = area + name.length + 1;
          long length =
              LIBC.getxattr(procPath, area, value, Scratch.AREA_CAPACITY - name.length - 1L);
          return length < 0 ? null : Memory.bytes(value, (int) length);
        });
  }

  @Override
  public byte[] extendedAttributeNames(OriginPath path, Attributes known) throws FsException {
    return withProcPath(
        path,
        known,
        (procPath, area) -> {
          long length = LIBC.listxattr(procPath, area, Scratch.AREA_CAPACITY);
          return length < 0 ? null : Memory.bytes(area, (int) length);
        });
  }

  @FunctionalInterface
  private interface XattrCall {
    /** Returns the answer, or null where the call failed and errno is set. */
    byte @org.jspecify.annotations.Nullable [] apply(long procPath, long area);
  }

  /**
   * Calls with the name of an O_PATH descriptor in /proc, since extended attributes cannot be read
   * from such a descriptor itself.
   */
  private byte[] withProcPath(OriginPath path, Attributes known, XattrCall call)
      throws FsException {
    int fd = openOnly(path);
    try {
      requireSame(fd, path, known);
      Scratch scratch = Linux.scratch();
      Memory.putString(scratch.path(), Linux.pathBytes("/proc/self/fd/" + fd));
      byte[] answer = call.apply(scratch.path(), scratch.area());
      if (answer == null) {
        throw Linux.failure(Linux.errno(), path.toString());
      }
      return answer;
    } finally {
      LIBC.close(fd);
    }
  }

  /**
   * Reads struct statvfs of 64-bit machines: eleven 64-bit numbers, of which 8 and 9 are id and
   * flags.
   */
  @Override
  public StoreFigures figures() throws FsException {
    long area = Linux.scratch().area();
    if (LIBC.fstatvfs(root, area) != 0) {
      throw Linux.failure(Linux.errno(), directory.toString());
    }
    long[] field = new long[STATVFS_FIELDS];
    for (int i = 0; i < field.length; i++) {
      field[i] = Memory.getLong(area + 8L * i);
    }
    return new StoreFigures(
        field[0], field[1], field[2], field[3], field[4], field[5], field[6], field[7], field[10]);
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      if (readers != null) {
        readers.shutdown();
      }
      LIBC.close(root);
    }
  }

  /**
   * Requires that a path still leads to the entry that was looked up, since another entry may have
   * other rights.
   */
  private void requireSame(int fd, OriginPath path, Attributes known) throws FsException {
    check(Statx.call(fd), path);
    if (!attributes(path).sameEntry(known)) {
      throw new FsException(FsError.STALE, path + ": changed at the origin");
    }
  }

  private int openOnly(OriginPath path) throws FsException {
    return openBeneath(path, Linux.O_PATH | Linux.O_NOFOLLOW | Linux.O_CLOEXEC);
  }

  private int openBeneath(OriginPath path, int flags) throws FsException {
    int fd = Linux.openBeneath(root, path.bytes(), flags);
    check(Math.max(0, -fd), path);
    return fd;
  }

  private static void check(int errno, OriginPath path) throws FsException {
    if (errno != 0) {
      throw Linux.failure(errno, path.toString());
    }
  }
}
