package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.checkpoint.OperationsLog.Entry;
import io.holdfast.fs.checkpoint.OperationsLog.Saved;
import io.holdfast.fs.checkpoint.PendingOperations.Pending;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiPredicate;
import java.util.function.LongSupplier;
import jnr.constants.platform.Errno;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory where programs write. Every change is an {@link Operation}, which is first in the
 * log and then in the tree, one after the other under one lock; so the log has the order in which
 * programs see their changes, and at most its last operation is not in the tree after the process
 * was killed.
 *
 * <pre>
 * FRONT/tree        the files, as programs see them
 * FRONT/log         the {@link OperationsLog}
 * FRONT/data/INODE  a second name of each file with bytes that are not durable in the store yet
 * FRONT/cursor      how far the store is, see {@link Cursor}
 * FRONT/staged      a stub that is being made
 * FRONT/comparing   there while the front is compared with the store, and the store may lack files
 * FRONT/unlinked/INODE  the name of a file that has lost its last one in the tree and is open
 * </pre>
 *
 * <p>The log has no bytes of files. They stay in the file that they were written to, which cannot
 * go away because of its second name. If a later operation is about to destroy bytes that the store
 * does not have yet, they are saved in the log first. So a checkpoint, which is written once, is
 * written once to the front, too.
 *
 * <p>The lock also guards {@link PendingOperations}, {@link StoredFiles} and {@link OpenFiles},
 * which know the files and operations.
 *
 * <p>Thread-safe. {@link #lock()} may be taken around several calls; nobody holds it while the
 * store works. Besides, there is only the lock of those that sync the front, which is taken first.
 */
public final class Front implements AutoCloseable {
  /** The prefix of the attributes that are not shown. */
  public static final String HIDDEN_XATTR = "trusted.holdfast.";

  private static final Logger log = LoggerFactory.getLogger(Front.class);

  /** The most memory of the daemon that operations may take while they are pending, in bytes. */
  private static final long MOST_MEMORY = 128L << 20;

  private static final String DATA = "data";

  /** The most bytes of a file in the root that is no checkpoint. */
  private static final long LARGEST_POINTER = 64 << 10;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final FileTree tree;
  private final FileTree root;
  private final OperationsLog operations;
  private final Cursor cursor;
  private final LongSupplier clock;
  private final long capacity;

  private final PendingOperations pendings;
  private final StoredFiles stored;
  private final OpenFiles open;
  private @Nullable RequestsInFlight requests;
  private final LongWaits waits = new LongWaits();
  private int waiting;
  private long changes;
  private boolean closed;
  private boolean filesClosed;

  /** The last operation that fsync has promised to survive a crash of the machine. */
  private long promised;

  /**
   * Whether bytes with that promise have been saved in the log since it was synced last. Guarded by
   * the lock.
   */
  private boolean hasSavedPromised;

  private long logSyncs;

  /** Taken before the lock by those that make the front durable, one after the other. */
  private final ReentrantLock syncing = new ReentrantLock();

  /**
   * Opens a front, and finishes what a killed process has begun.
   *
   * @param capacity bytes that the front may take
   * @param isSameBoot whether the machine has not stopped since the front was used
   * @param clock nanoseconds of the epoch
   */
  public Front(Path directory, long capacity, boolean isSameBoot, LongSupplier clock)
      throws IOException {
    this.capacity = capacity;
    this.clock = clock;
    Files.createDirectories(directory.resolve("tree"));
    Files.createDirectories(directory.resolve(DATA));
    Files.createDirectories(directory.resolve(OpenFiles.UNLINKED));
    root = FileTree.open(directory);
    tree = FileTree.open(directory.resolve("tree"));
    cursor = new Cursor(directory.resolve("cursor"));
    pendings = new PendingOperations(cursor.durable());
    open = new OpenFiles(root);
    stored = new StoredFiles(root, tree, open::isOpen);
    operations = new OperationsLog(directory.resolve("log"), cursor.durable() + 1, new Loading());
    root.sync(""); // without the cursor the store would get everything a second time
    promised = operations.last(); // perhaps: who was promised what is not known any more
    if (isSameBoot) {
      finishLast();
    }
    pendings.mayHaveLostNames();
    removeUnusedNames();
    stored.find("", pendings::hasFile);
  }

  /** Takes what the log has: the operations that are pending. */
  private final class Loading implements OperationsLog.Reader {
    private final Map<Long, Pending> writes = new HashMap<>();

    @Override
    public void entry(Entry entry) {
      if (entry.sequence() > cursor.durable()) {
        Pending pending = new Pending(entry);
        pendings.add(pending);
        writes.put(entry.sequence(), pending);
      }
    }

    @Override
    public void saved(Saved saved) {
      Pending pending = writes.get(saved.sequence());
      if (pending != null && pending.operation() instanceof Operation.Write write) {
        pending.saved.add(saved);
        pendings.file(write.inode()).cut(saved.offset(), saved.offset() + saved.length());
      }
    }
  }

  /**
   * Brings the last operation of the log and the tree to the same state. Its program has not got an
   * answer, so either will do: an operation that is in part in the tree is logged for that part.
   */
  private void finishLast() throws ErrnoException {
    Pending last = pendings.last();
    if (last == null || !operations.endsWithEntry()) {
      return;
    }
    Operation operation = last.operation();
    if (operation instanceof Operation.Write write) {
      finishWrite(last, write);
    } else if (operation.isRepeatable()) {
      try {
        operation.apply(tree);
      } catch (ErrnoException e) {
        log.info("the last operation had failed: {}", e.getMessage());
        takeBackLast();
      }
    } else if (!operation.isApplied(tree, last.entry.witness())) {
      takeBackLast();
    }
  }

  private void finishWrite(Pending last, Operation.Write write) throws ErrnoException {
    long buffer = LIBC.malloc(write.length());
    try {
      int fd = root.open(data(write.inode()), Linux.O_RDONLY);
      long there;
      try {
        there = Math.min(write.length(), FileTree.stat(fd).size() - write.offset());
        if (there > 0) {
          FileTree.readFully(fd, buffer, (int) there, write.offset(), write.path());
        }
      } finally {
        LIBC.close(fd);
      }
      int length = (int) Math.max(0, there);
      int crc = OperationsLog.crc(Memory.buffer(buffer, length));
      if (length == write.length() && crc == write.checksum()) {
        return;
      }
      takeBackLast();
      if (length > 0) {
        Operation part =
            new Operation.Write(write.path(), write.inode(), write.offset(), length, crc);
        keepAgain(write);
        pendings.add(new Pending(operations.append(last.entry.time(), 0, part)));
        stored.forgetClean(write.inode());
      }
    } finally {
      LIBC.free(buffer);
    }
  }

  /** Gives a file its second name if it went with its only write, which is pending in part. */
  private void keepAgain(Operation.Write write) throws ErrnoException {
    int fd = tree.open(write.path(), Linux.O_RDONLY);
    try {
      keep(write.inode(), fd);
    } finally {
      LIBC.close(fd);
    }
  }

  private void takeBackLast() throws ErrnoException {
    pendings.removeLast(1).forEach(this::forget);
    operations.retract();
  }

  /** Returns the bound of those that wait for room, or for the store. */
  LongWaits waits() {
    return waits;
  }

  /** Returns the files as programs see them. Only this class changes them. */
  public FileTree tree() {
    return tree;
  }

  /** Returns the lock, for callers that decide by what they see. */
  public ReentrantLock lock() {
    return lock;
  }

  /** Makes an operation, at the moment when it is to be performed. */
  @FunctionalInterface
  public interface Request {
    Operation now() throws ErrnoException;
  }

  /**
   * Performs an operation. While the front is full it waits until there is room, and asks for the
   * operation again.
   *
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  void perform(Request request) throws ErrnoException, InterruptedException {
    lock.lock();
    try {
      boolean done = false;
      while (!done) {
        Operation operation = request.now();
        boolean hasWaited = awaitRoom(destroyedBytes(operation));
        requireOpen();
        done = !hasWaited && tryPerform(operation);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Notes for whom operations are performed, so that the next daemon performs none again. */
  void performFor(RequestsInFlight inFlight) {
    lock.lock();
    try {
      requests = inFlight;
    } finally {
      lock.unlock();
    }
  }

  /** Appends an operation of a program to the log. */
  private Entry append(long time, long witness, Operation operation) throws ErrnoException {
    if (requests != null) {
      requests.performs(operations.last() + 1);
    }
    try {
      return operations.append(time, witness, operation);
    } catch (ErrnoException e) {
      hasFailed();
      throw e;
    }
  }

  /** Takes the last append back, because its operation has failed. */
  private void retract() throws ErrnoException {
    hasFailed();
    operations.retract();
  }

  private void hasFailed() {
    if (requests != null) {
      requests.failed();
    }
  }

  private void requireOpen() throws ErrnoException {
    if (closed) {
      throw ErrnoException.because(Errno.EIO, "", "the daemon ends");
    }
  }

  /** Returns false if the file system of the front was full, and may have room now. */
  private boolean tryPerform(Operation operation) throws ErrnoException, InterruptedException {
    requirePossible(operation);
    try {
      saveBefore(operation);
      logAndApply(operation);
      return true;
    } catch (ErrnoException e) {
      if (operation instanceof Operation.SetXattr && tree.hasRoom()) {
        throw e; // the attribute is too large, whatever room there is
      }
      awaitRoomAfter(e);
      return false;
    }
  }

  /**
   * Refuses what the file system would refuse, before it is in the log. The log may be synced
   * before it gives a change up, and a crash of the machine would bring that back.
   */
  private void requirePossible(Operation operation) throws ErrnoException {
    if (operation instanceof Operation.Make make) {
      requireAbsent(make.path());
    } else if (operation instanceof Operation.Link link) {
      requireAbsent(link.path());
    } else if (operation instanceof Operation.Remove remove) {
      requireRemovable(remove.path(), remove.directory());
    } else if (operation instanceof Operation.Rename rename) {
      requirePossible(rename);
    }
  }

  private void requirePossible(Operation.Rename rename) throws ErrnoException {
    String from = rename.from();
    String to = rename.to();
    boolean exchanges = (rename.flags() & Operation.Rename.EXCHANGE) != 0;
    if (to.startsWith(from + "/") || (exchanges && from.startsWith(to + "/"))) {
      throw ErrnoException.of(Errno.EINVAL, from);
    }
    if ((rename.flags() & Operation.Rename.NOREPLACE) != 0) {
      requireAbsent(to);
    }
    if (exchanges) {
      Stat unused = tree.stat(to);
    } else if (!from.equals(to) && tree.find(to).isPresent()) {
      requireRemovable(to, tree.stat(from).isDirectory());
    }
  }

  private void requireAbsent(String path) throws ErrnoException {
    if (tree.find(path).isPresent()) {
      throw ErrnoException.of(Errno.EEXIST, path);
    }
  }

  private void requireRemovable(String path, boolean asDirectory) throws ErrnoException {
    if (tree.stat(path).isDirectory() != asDirectory) {
      throw ErrnoException.of(asDirectory ? Errno.ENOTDIR : Errno.EISDIR, path);
    }
    if (asDirectory && !tree.isEmpty(path)) {
      throw ErrnoException.of(Errno.ENOTEMPTY, path);
    }
  }

  private void logAndApply(Operation operation) throws ErrnoException {
    Optional<Stat> loser = loser(operation);
    Optional<Stat> gone = loser.filter(stat -> stat.links() == 1);
    long size = operation instanceof Operation.Allocate a ? tree.stat(a.path()).size() : 0;
    long attempts = operations.attempts();
    long nameless = -1;
    try {
      nameless = keepIfOpen(operation);
      Entry entry;
      try {
        entry = append(clock.getAsLong(), operation.witness(tree), operation);
        try {
          operation.apply(tree);
        } catch (ErrnoException e) {
          if (operation instanceof Operation.Allocate allocate) {
            takeBackAllocated(allocate.path(), size);
          }
          retract();
          throw e;
        }
      } catch (ErrnoException e) {
        open.forgetUnlinked(nameless);
        throw e;
      }
      pendings.add(new Pending(entry));
      gone.ifPresent(stat -> stored.forget(stat.inode()));
      loser
          .filter(stat -> shown(stat).links() > 1)
          .ifPresent(stat -> pendings.lostAName(stat.inode(), entry.sequence()));
      if (operation instanceof Operation.Resize resize
          && resize.size() == 0
          && stored.isStub(tree.stat(resize.path()).inode())) {
        stored.isWhole(resize.path());
      }
      change();
    } catch (RuntimeException | Error e) {
      if (nameless < 0 || operations.attempts() != attempts) {
        throw halt(e);
      }
      open.forgetUnlinked(nameless); // nothing was changed
      hasFailed();
      throw e;
    }
  }

  /**
   * Ends the process in the middle of a change. What is in memory may lack a part that the log or
   * the tree has, or the other way round: the store would never get that operation, and get those
   * behind it. The next daemon reads the log again, as after a kill.
   *
   * @param cause a heap that is full, or a fault
   */
  static IllegalStateException halt(Throwable cause) {
    try {
      if (cause instanceof OutOfMemoryError full) {
        OutOfMemory.tell(full);
      }
      log.error("a change has ended halfway: this daemon ends, and the next one goes on", cause);
    } finally {
      Runtime.getRuntime().halt(1);
    }
    return new IllegalStateException(cause); // never
  }

  /** A file system that became full meanwhile has allocated a part. */
  private void takeBackAllocated(String path, long size) {
    try {
      tree.resize(path, size);
    } catch (ErrnoException e) {
      log.warn("a part of an allocation stays: {}", e.getMessage());
    }
  }

  /** Returns the file that loses a name by an operation. */
  private Optional<Stat> loser(Operation operation) throws ErrnoException {
    List<String> paths = operation.paths();
    return takesAName(operation)
        ? tree.find(paths.get(paths.size() - 1)).filter(stat -> !stat.isDirectory())
        : Optional.empty();
  }

  private static boolean takesAName(Operation operation) {
    return operation instanceof Operation.Remove
        || (operation instanceof Operation.Rename rename
            && (rename.flags() & Operation.Rename.EXCHANGE) == 0);
  }

  /**
   * Gives a file another name outside of the tree that is open and about to lose its last name, so
   * that the next daemon has it if this one is killed.
   *
   * @return its inode; 0 if there is no such file
   */
  private long keepIfOpen(Operation operation) throws ErrnoException {
    boolean replaces =
        operation instanceof Operation.Rename rename
            && (rename.flags() & (Operation.Rename.EXCHANGE | Operation.Rename.NOREPLACE)) == 0
            && !rename.from().equals(rename.to());
    if (!replaces && !(operation instanceof Operation.Remove)) {
      return 0;
    }
    List<String> paths = operation.paths();
    String path = paths.get(paths.size() - 1);
    Optional<Stat> last =
        tree.find(path)
            .filter(
                stat -> stat.isRegular() && open.isOpen(stat.inode()) && shown(stat).links() == 1);
    return last.isEmpty() ? 0 : open.keep(path, last.get());
  }

  /**
   * Keeps the files without names that a killed daemon had open, and takes the others away.
   *
   * @param inodes those of the files
   */
  void keepUnlinked(Set<Long> inodes) throws ErrnoException {
    lock.lock();
    try {
      open.keepUnlinked(inodes);
    } finally {
      lock.unlock();
    }
  }

  /** Opens a file without names. */
  int openUnlinked(long inode, int flags) throws ErrnoException {
    return open.openUnlinked(inode, flags);
  }

  /** Returns the attributes of a file without names, as programs see them. */
  Stat statUnlinked(long inode) throws ErrnoException {
    lock.lock();
    try {
      return shown(open.statUnlinked(inode));
    } finally {
      lock.unlock();
    }
  }

  /** A range of a file. */
  private record Range(long inode, long from, long to) {}

  /** Returns the bytes that an operation, which is no write, will destroy. */
  private Optional<Range> destroyed(Operation operation) throws ErrnoException {
    if (operation instanceof Operation.Resize resize) {
      long inode = tree.stat(resize.path()).inode();
      return Optional.of(new Range(inode, resize.size(), Long.MAX_VALUE));
    }
    if (operation instanceof Operation.Allocate allocate
        && (allocate.mode() & ~Operation.Allocate.KEEP_SIZE) != 0) {
      long end = Math.addExact(allocate.offset(), allocate.length());
      long inode = tree.stat(allocate.path()).inode();
      return Optional.of(new Range(inode, allocate.offset(), end));
    }
    return Optional.empty();
  }

  private long destroyedBytes(Operation operation) throws ErrnoException {
    Optional<Range> range = destroyed(operation);
    return range.isEmpty() ? 0 : pendingBytesOf(range.get());
  }

  private long pendingBytesOf(Range range) {
    PendingFile file = pendings.file(range.inode());
    return file == null ? 0 : file.bytes(range.from(), range.to());
  }

  /** Saves the bytes that an operation will destroy and the store does not have. */
  private void saveBefore(Operation operation) throws ErrnoException {
    Optional<Range> range = destroyed(operation);
    if (range.isPresent()) {
      save(range.get().inode(), range.get().from(), range.get().to());
    }
  }

  /**
   * Writes bytes to an open file.
   *
   * @param path says under which name the file is now; null if it has none any more
   * @param fd the file, open for writing
   * @return how many bytes were written; fewer than asked only if the thread was interrupted
   * @throws InterruptedException if the thread is interrupted before anything was written
   */
  int write(PathNow path, int fd, long inode, long address, int length, long offset)
      throws ErrnoException, InterruptedException {
    lock.lock();
    try {
      int done = 0;
      while (done < length) {
        try {
          Range over = new Range(inode, offset + done, Math.addExact(offset, length));
          awaitRoom(length - done + pendingBytesOf(over));
          requireOpen();
          done += tryWrite(path.now(), fd, inode, address + done, length - done, offset + done);
        } catch (InterruptedException e) {
          if (done == 0) {
            throw e;
          }
          return done;
        }
      }
      return done;
    } finally {
      lock.unlock();
    }
  }

  /** Says under which name a file is. */
  @FunctionalInterface
  public interface PathNow {
    @Nullable String now() throws ErrnoException;
  }

  private int tryWrite(
      @Nullable String path, int fd, long inode, long address, int length, long offset)
      throws ErrnoException, InterruptedException {
    if (path == null && open.namelessBytes() + length > capacity) {
      throw ErrnoException.of(Errno.ENOSPC, ""); // such files never become stubs
    }
    try {
      save(inode, offset, Math.addExact(offset, length));
      if (path == null) {
        return writeUnlogged(fd, address, length, offset);
      }
      keep(inode, fd);
      return logAndWrite(path, fd, inode, address, length, offset);
    } catch (ErrnoException e) {
      removeUnusedName(inode);
      awaitRoomAfter(e);
      return 0;
    }
  }

  private int logAndWrite(String path, int fd, long inode, long address, int length, long offset)
      throws ErrnoException {
    long attempts = operations.attempts();
    try {
      int crc = OperationsLog.crc(Memory.buffer(address, length));
      Operation.Write write = new Operation.Write(path, inode, offset, length, crc);
      Entry entry = append(clock.getAsLong(), 0, write);
      int count = FileTree.write(fd, address, length, offset);
      if (count < length) {
        int errno = Linux.errno();
        retract();
        if (count == 0) {
          throw ErrnoException.of(errno, path);
        }
        crc = OperationsLog.crc(Memory.buffer(address, count));
        write = new Operation.Write(path, inode, offset, count, crc);
        entry = append(entry.time(), 0, write);
      }
      pendings.add(new Pending(entry));
      stored.forgetClean(inode);
      change();
      return count;
    } catch (RuntimeException | Error e) {
      if (operations.attempts() != attempts) {
        throw halt(e);
      }
      hasFailed();
      throw e; // nothing was changed
    }
  }

  private int writeUnlogged(int fd, long address, int length, long offset) throws ErrnoException {
    int count = FileTree.write(fd, address, length, offset);
    if (count == 0) {
      throw ErrnoException.of(Linux.errno(), "");
    }
    open.takes(FileTree.stat(fd));
    return count;
  }

  /** Changes an open file that has no name any more, so that the store has no part in it. */
  void changeUnlinked(int fd, Change change) throws ErrnoException {
    lock.lock();
    try {
      if (change.size() >= 0) {
        save(FileTree.stat(fd).inode(), change.size(), Long.MAX_VALUE);
      }
      change.apply(fd);
      open.takes(FileTree.stat(fd));
    } finally {
      lock.unlock();
    }
  }

  /** Gives a file its second name. */
  private void keep(long inode, int fd) throws ErrnoException {
    if (pendings.hasFile(inode)) {
      return;
    }
    long from = Linux.scratch().path();
    Memory.putString(from, Linux.pathBytes("/proc/self/fd/" + fd));
    long to = Linux.scratch().area();
    Memory.putString(to, Linux.pathBytes(data(inode)));
    int failed = LIBC.linkat(Linux.AT_FDCWD, from, root.fd(), to, AT_SYMLINK_FOLLOW);
    int errno = failed == 0 ? 0 : Linux.errno();
    if (failed != 0 && errno != Errno.EEXIST.intValue()) {
      throw ErrnoException.of(errno, data(inode));
    }
  }

  /** Takes the second name of a file away if no operation needs it: its write has failed. */
  private void removeUnusedName(long inode) throws ErrnoException {
    if (!pendings.hasFile(inode) && root.find(data(inode)).isPresent()) {
      root.remove(data(inode), false);
    }
  }

  /** The same for all files: the process was killed between a name and the operation. */
  private void removeUnusedNames() throws ErrnoException {
    stored.removeStaged();
    for (FileTree.Entry entry : root.list(DATA)) {
      removeUnusedName(Long.parseUnsignedLong(entry.name()));
    }
  }

  private static final int AT_SYMLINK_FOLLOW = 0x400;

  private static String data(long inode) {
    return DATA + "/" + Long.toUnsignedString(inode);
  }

  /**
   * Saves the pieces of a file within a range in the log; what reaches out of it stays. An attempt
   * that has failed may have saved some, which the next attempt does not find any more: so it is
   * noted for all attempts whether the log has to be synced.
   */
  private void save(long inode, long from, long to) throws ErrnoException {
    PendingFile file = pendings.file(inode);
    if (file != null && !file.overlapping(from, to).isEmpty()) {
      save(file, inode, from, to);
    }
    if (hasSavedPromised) {
      long unused =
          syncLog(); // else a crash could leave neither the bytes in the file nor those in the log
      hasSavedPromised = false;
    }
  }

  private void save(PendingFile file, long inode, long from, long to) throws ErrnoException {
    int fd = root.open(data(inode), Linux.O_RDONLY);
    try {
      for (PendingFile.Piece piece : file.overlapping(from, to)) {
        long at = Math.max(from, piece.offset());
        long end = Math.min(to, piece.end());
        while (at < end) {
          int length = (int) Math.min(end - at, OperationsLog.LARGEST_SAVE);
          Saved saved = operations.save(piece.write().sequence(), fd, at, length);
          piece.write().saved.add(saved);
          file.cut(at, at + length);
          hasSavedPromised |= piece.write().sequence() <= promised;
          at += length;
        }
      }
    } catch (RuntimeException | Error e) {
      throw halt(e);
    } finally {
      LIBC.close(fd);
    }
  }

  /**
   * Waits until a number of bytes fits, while the persister can still make room; returns whether it
   * has waited.
   */
  private boolean awaitRoom(long bytes) throws ErrnoException, InterruptedException {
    boolean hasWaited = false;
    try {
      while (!closed && !hasRoom(bytes) && !evict(bytes) && pendingOperations() > 0) {
        if (!hasWaited) {
          beginWaiting();
          hasWaited = true;
        }
        changed.await();
      }
    } finally {
      if (hasWaited) {
        endWaiting();
      }
    }
    return hasWaited;
  }

  private void beginWaiting() throws ErrnoException {
    waits.begin(Errno.ENOSPC, "");
    waiting++;
  }

  private void endWaiting() {
    waiting--;
    waits.end();
  }

  private boolean hasRoom(long bytes) {
    return used() + bytes <= capacity && pendings.memory() < MOST_MEMORY;
  }

  /**
   * After the file system of the front was full: waits for room if there may be some, or else
   * throws the failure.
   */
  private void awaitRoomAfter(ErrnoException failure) throws ErrnoException, InterruptedException {
    boolean full = failure.is(Errno.ENOSPC) || failure.is(Errno.EDQUOT);
    boolean mayHaveRoom = pendingOperations() > 0 || stored.hasRoomToMake();
    if (!full || closed || !mayHaveRoom) {
      throw failure;
    }
    // the disk may be full of other things, far below the capacity
    if (!stored.evictOne((path, bytes) -> true)) {
      beginWaiting();
      try {
        awaitChange(TimeUnit.SECONDS.toNanos(1));
      } finally {
        endWaiting();
      }
    }
  }

  private long used() {
    return pendings.bytes() + stored.cleanBytes() + open.namelessBytes() + operations.bytes();
  }

  /** Returns the number of operations that the store does not have durably. */
  public int pendingOperations() {
    lock.lock();
    try {
      return pendings.count();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of the last of them; what is durable if there is none. */
  public long lastPending() {
    return lastOf("");
  }

  /**
   * After a crash of the machine: forgets the first write whose bytes are not as they were written,
   * and all operations behind it.
   *
   * @return how many operations are lost
   */
  public int dropDamaged() {
    long buffer = LIBC.malloc(OperationsLog.LARGEST_RECORD);
    lock.lock();
    try {
      int whole = 0;
      for (Pending pending : pendings.notTaken()) {
        if (pending.operation() instanceof Operation.Write && !isWhole(pending, buffer)) {
          break;
        }
        whole++;
      }
      List<Pending> lost = pendings.removeLast(pendings.notTaken().size() - whole);
      lost.forEach(this::forget);
      return lost.size();
    } finally {
      lock.unlock();
      LIBC.free(buffer);
    }
  }

  private boolean isWhole(Pending pending, long buffer) {
    try {
      read(pending, buffer);
      return true;
    } catch (ErrnoException e) {
      log.warn("lost with the machine: {}", e.getMessage());
      return false;
    }
  }

  /** Makes stubs of clean files until so many bytes fit; returns whether they do now. */
  private boolean evict(long bytes) {
    boolean more = true;
    while (more && used() + bytes > capacity) {
      more = stored.evictOne((path, length) -> true);
    }
    return hasRoom(bytes);
  }

  /** Looks for a name of a file in the whole tree. */
  @Nullable String pathOf(long inode) {
    lock.lock();
    try {
      return stored.pathOf(inode);
    } finally {
      lock.unlock();
    }
  }

  /** Makes stubs of all clean files but those of some checkpoints, and pointers to them. */
  void keepOnly(Set<String> kept) {
    makeStubs((path, bytes) -> !kept.contains(unit(path)) && !isPointer(path, bytes));
  }

  /** Makes stubs of all clean files that have these paths and lengths. */
  void makeStubs(BiPredicate<String, Long> which) {
    lock.lock();
    try {
      boolean more = true;
      while (more) {
        more = stored.evictOne(which);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns the entry of the root that a path is below, which is one checkpoint for --keep. */
  static String unit(String path) {
    int slash = path.indexOf('/');
    return slash < 0 ? path : path.substring(0, slash);
  }

  /**
   * Tells whether a file only says which checkpoint is the newest, as those that DeepSpeed,
   * Megatron and others write into the root behind each.
   *
   * @param bytes its length
   */
  static boolean isPointer(String path, long bytes) {
    return unit(path).equals(path) && bytes <= LARGEST_POINTER;
  }

  /** Tells whether an entry of the root is a pointer to a checkpoint. */
  boolean isPointer(String path) {
    lock.lock();
    try {
      return tree.find(path).filter(stat -> isPointer(path, stat)).isPresent();
    } catch (ErrnoException e) {
      return false; // nothing is known of it
    } finally {
      lock.unlock();
    }
  }

  private static boolean isPointer(String path, Stat stat) {
    return stat.isSymlink() || (stat.isRegular() && isPointer(path, stat.size()));
  }

  /**
   * Returns the checkpoints that were changed last by the times of their directories, the newest
   * last.
   *
   * @param most how many at most
   */
  List<String> newestUnits(int most) throws ErrnoException {
    Map<String, Long> modified = new HashMap<>();
    lock.lock();
    try {
      for (FileTree.Entry entry : tree.list("")) {
        Stat stat = tree.stat(entry.name());
        if (!isPointer(entry.name(), stat)) {
          modified.put(entry.name(), stat.modified());
        }
      }
    } finally {
      lock.unlock();
    }
    return modified.keySet().stream()
        .sorted(Comparator.comparing((String name) -> modified.get(name)))
        .skip(Math.max(0, modified.size() - most))
        .toList();
  }

  /** Notes that a file is open, so that it does not become a stub. */
  void opened(long inode) {
    lock.lock();
    try {
      open.opened(inode);
    } finally {
      lock.unlock();
    }
  }

  /** Takes {@link #opened} back. */
  void released(long inode) {
    lock.lock();
    try {
      open.released(inode);
    } finally {
      lock.unlock();
    }
  }

  /** Tells whether only the store has a file's bytes. */
  boolean isStub(long inode) {
    lock.lock();
    try {
      return stored.isStub(inode);
    } finally {
      lock.unlock();
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
    lock.lock();
    try {
      stored.addStub(path, stat, target, xattrs);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes a name of a stub away whose bytes nobody has, or that the store has otherwise by now. The
   * file stays a stub as long as it has another name.
   */
  void forgetStub(String path) throws ErrnoException {
    lock.lock();
    try {
      stored.forgetStub(path);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Notes that the front is being compared with the store, also for the next process: until the
   * comparison is over, no file becomes a stub.
   */
  void beginComparison() throws ErrnoException {
    lock.lock();
    try {
      stored.beginComparison();
    } finally {
      lock.unlock();
    }
  }

  /** Notes that the comparison is over: what the store lacked is pending. */
  void endComparison() throws ErrnoException {
    lock.lock();
    try {
      stored.endComparison();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Tells whether a comparison with the store has begun and is not over. Its operations may lack
   * files, or parts of one: once the store has them, everything must be compared again.
   */
  public boolean isComparing() {
    lock.lock();
    try {
      return stored.isComparing();
    } finally {
      lock.unlock();
    }
  }

  /** Logs an entry that the tree has, so that the store gets it. */
  void makeAgain(String path, Stat stat) throws ErrnoException {
    lock.lock();
    try {
      String target = stat.isSymlink() ? tree.readLink(path) : "";
      logAgain(
          new Operation.Make(path, stat.mode(), stat.device(), stat.uid(), stat.gid(), target));
    } finally {
      lock.unlock();
    }
  }

  /**
   * Logs another name of a file of the tree, so that the store gets it.
   *
   * @param replaces whether the store has something else by that name
   */
  void linkAgain(String existing, String path, boolean replaces) throws ErrnoException {
    lock.lock();
    try {
      if (replaces) {
        logAgain(new Operation.Remove(path, false));
      }
      logAgain(new Operation.Link(existing, path));
    } finally {
      lock.unlock();
    }
  }

  /** Logs the size that a file of the tree has, so that the store gets it. */
  void resizeAgain(String path, long size) throws ErrnoException {
    lock.lock();
    try {
      logAgain(new Operation.Resize(path, size));
    } finally {
      lock.unlock();
    }
  }

  /** Logs all bytes of a file of the tree, so that the store gets them. */
  void writeAgain(String path) throws ErrnoException {
    long buffer = LIBC.malloc(OperationsLog.LARGEST_SAVE);
    lock.lock();
    try {
      Stat stat = tree.stat(path);
      int fd = tree.open(path, Linux.O_RDONLY);
      try {
        for (long at = 0; at < stat.size(); at += OperationsLog.LARGEST_SAVE) {
          int length = (int) Math.min(OperationsLog.LARGEST_SAVE, stat.size() - at);
          keep(stat.inode(), fd);
          FileTree.readFully(fd, buffer, length, at, path);
          int crc = OperationsLog.crc(Memory.buffer(buffer, length));
          logAgain(new Operation.Write(path, stat.inode(), at, length, crc));
        }
        stored.forgetClean(stat.inode());
      } finally {
        LIBC.close(fd);
      }
    } finally {
      LIBC.free(buffer);
      lock.unlock();
    }
  }

  private void logAgain(Operation operation) throws ErrnoException {
    pendings.add(new Pending(operations.append(clock.getAsLong(), 0, operation)));
    change();
  }

  /**
   * Fetches the bytes of a stub.
   *
   * @param from the file at the store, open
   * @param buffer room for so many bytes
   */
  void fetch(long inode, int from, long buffer, int length) throws ErrnoException {
    String path;
    int to;
    lock.lock(); // so that no rename gives the name to another file before it is open
    try {
      path = pathOf(inode);
      if (path == null) {
        throw ErrnoException.of(Errno.ENOENT, "");
      }
      to = tree.open(path, FileTree.O_WRONLY);
    } finally {
      lock.unlock();
    }
    try { // open until the end: its inode is no other file's
      Stat before = FileTree.stat(to);
      makeRoom(before.size());
      try {
        for (long at = 0; at < before.size(); at += length) {
          int part = (int) Math.min(length, before.size() - at);
          FileTree.readFully(from, buffer, part, at, path);
          if (FileTree.write(to, buffer, part, at) < part) {
            throw ErrnoException.of(Linux.errno(), path);
          }
        }
      } catch (ErrnoException e) {
        takeBackFetched(inode, before);
        throw e;
      }
      fetched(inode, before);
    } finally {
      LIBC.close(to);
    }
  }

  private void fetched(long inode, Stat before) throws ErrnoException {
    lock.lock();
    try {
      String path = pathOf(inode);
      if (path != null) {
        tree.times(path, before.accessed(), before.modified());
        stored.isWhole(path);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Makes stubs of other files, as far as that is needed and possible. */
  private void makeRoom(long bytes) {
    lock.lock();
    try {
      boolean unused = evict(bytes);
    } finally {
      lock.unlock();
    }
  }

  private void takeBackFetched(long inode, Stat before) {
    lock.lock();
    try {
      String path = pathOf(inode);
      if (path != null) {
        stored.punchIfPossible(path, before);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns the attributes of a path, as programs see them. */
  Stat stat(String path) throws ErrnoException {
    lock.lock();
    try {
      return shown(tree.stat(path));
    } finally {
      lock.unlock();
    }
  }

  /** Returns the attributes of an open file, as programs see them. */
  Stat stat(int fd) throws ErrnoException {
    lock.lock();
    try {
      return shown(FileTree.stat(fd));
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns attributes without the names outside of the tree, and those of a stub with the blocks
   * of its bytes: archivers take a file without blocks for zeroes, and do not read it.
   */
  private Stat shown(Stat stat) {
    int others = (pendings.hasFile(stat.inode()) ? 1 : 0) + (open.isUnlinked(stat.inode()) ? 1 : 0);
    boolean isStub = stored.isStub(stat.inode());
    if ((others == 0 && !isStub) || !stat.isRegular()) {
      return stat;
    }
    return new Stat(
        stat.inode(),
        stat.mode(),
        stat.links() - others,
        stat.uid(),
        stat.gid(),
        stat.device(),
        stat.size(),
        isStub ? StoredFiles.blocks(stat.size()) : stat.blocks(),
        stat.accessed(),
        stat.modified(),
        stat.changed());
  }

  // ---- what the persister asks for

  /**
   * Waits for the next operation that the store has not taken.
   *
   * @return null if there is none after that time
   */
  @Nullable Pending next(long nanos) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = nanos;
      while (pendings.next() == null && left > 0 && !closed) {
        left = changed.awaitNanos(left);
      }
      return pendings.next();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the next operation that the store has not taken, if there is one. */
  @Nullable Pending nextNow() {
    lock.lock();
    try {
      return pendings.next();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Copies the bytes of a write.
   *
   * @throws ErrnoException EIO if they are not the bytes that were written
   */
  void read(Pending pending, long to) throws ErrnoException {
    Operation.Write write = (Operation.Write) pending.operation();
    lock.lock();
    try {
      for (Saved saved : pending.saved) {
        operations.read(saved, 0, to + saved.offset() - write.offset(), saved.length());
      }
      int fd = root.open(data(write.inode()), Linux.O_RDONLY);
      try {
        for (PendingFile.Piece piece :
            pendings.file(write.inode()).overlapping(write.offset(), write.end())) {
          if (piece.write() == pending) {
            long at = to + piece.offset() - write.offset();
            FileTree.readFully(fd, at, piece.length(), piece.offset(), write.path());
          }
        }
      } finally {
        LIBC.close(fd);
      }
    } finally {
      lock.unlock();
    }
    if (OperationsLog.crc(Memory.buffer(to, write.length())) != write.checksum()) {
      throw ErrnoException.because(
          Errno.EIO,
          write.path(),
          "the front has other bytes than were written (at %d): the store keeps what it has"
              .formatted(write.offset()));
    }
  }

  /** Notes that the store has taken an operation, not durably yet. */
  void taken(Pending pending) {
    lock.lock();
    try {
      pendings.taken(pending);
    } catch (RuntimeException | Error e) {
      throw halt(e);
    } finally {
      lock.unlock();
    }
  }

  /** Notes that all operations that the store has taken are durable there. */
  void allDurable() throws ErrnoException {
    Pending last = lastTaken();
    if (last == null) {
      return;
    }
    cursor.setDurable(last.sequence()); // the persister alone uses it and the window
    lock.lock();
    try {
      pendings.allDurable(last.sequence()).forEach(this::forget);
      change();
      operations.trim(last.sequence());
    } catch (RuntimeException | Error e) {
      throw halt(e);
    } finally {
      lock.unlock();
    }
  }

  private @Nullable Pending lastTaken() {
    lock.lock();
    try {
      return pendings.lastTaken();
    } finally {
      lock.unlock();
    }
  }

  /** Notes that an operation is not pending any more. */
  private void forget(Pending pending) {
    boolean isWhole = pendings.forget(pending);
    if (pending.operation() instanceof Operation.Write write && isWhole) {
      storeHasAll(write);
    } else if (pending.operation() instanceof Operation.Rename rename) {
      stored.renamed(rename, pending.entry.witness());
    }
  }

  /** Takes the second name of a file away, which no operation needs any more. */
  private void storeHasAll(Operation.Write write) {
    try {
      Optional<Stat> there = root.find(data(write.inode()));
      if (there.isPresent()) {
        root.remove(data(write.inode()), false);
        if (there.get().links() > 1 && !open.isUnlinked(write.inode())) {
          stored.addClean(write.path(), there.get());
        }
      }
    } catch (ErrnoException e) {
      log.warn("a second name of a file stays until the next mount: {}", e.getMessage());
    }
  }

  /**
   * Makes the log survive a crash of the machine, before the store changes.
   *
   * @return the number of the last operation that does
   */
  long syncLog() throws ErrnoException {
    int fd;
    long last;
    long segment;
    boolean isNamed;
    lock.lock();
    try {
      last = operations.last();
      fd = operations.duplicate();
      segment = operations.segment();
      isNamed = operations.isNamed(segment);
    } finally {
      lock.unlock();
    }
    try { // without the lock: programs go on writing
      if (LIBC.fdatasync(fd) != 0 || (!isNamed && LIBC.fsync(operations.directory()) != 0)) {
        throw ErrnoException.of(Linux.errno(), "log");
      }
    } finally {
      LIBC.close(fd);
    }
    lock.lock();
    try {
      operations.named(segment);
      logSyncs++;
    } finally {
      lock.unlock();
    }
    return last;
  }

  /** Returns how often the log was made to survive a crash of the machine. */
  long logSyncs() {
    lock.lock();
    try {
      return logSyncs;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Makes everything that programs have done survive a crash of the machine. After one, the log
   * counts up to the first write whose bytes are damaged: so those of all writes are synced.
   */
  void syncAll() throws ErrnoException {
    syncing.lock(); // who comes second may rely on what the first one syncs
    try {
      Map<Long, PendingFile> files;
      lock.lock();
      try {
        promise(operations.last()); // first: what is destroyed meanwhile has to be in the log
        files = pendings.takeUnsynced();
      } finally {
        lock.unlock();
      }
      try {
        for (long inode : files.keySet()) {
          syncData(inode);
        }
        root.sync(DATA);
        long unused = syncLog();
      } catch (ErrnoException e) {
        areUnsynced(files);
        throw e;
      }
    } finally {
      syncing.unlock();
    }
  }

  /** Returns the number of files with bytes that a crash of the machine could damage. */
  int unsynced() {
    lock.lock();
    try {
      return pendings.unsynced();
    } finally {
      lock.unlock();
    }
  }

  private void areUnsynced(Map<Long, PendingFile> files) {
    lock.lock();
    try {
      files.values().forEach(file -> file.setSynced(false));
    } finally {
      lock.unlock();
    }
  }

  /**
   * Tells whether bytes of a write are in the log. After {@link #promise} such bytes survive a
   * crash of the machine once they are there.
   */
  boolean hasSaved(Pending write) {
    lock.lock();
    try {
      return !write.saved.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** Notes that operations up to this one have to survive a crash of the machine. */
  void promise(long last) {
    lock.lock();
    try {
      promised = Math.max(promised, last);
    } finally {
      lock.unlock();
    }
  }

  private void syncData(long inode) throws ErrnoException {
    try {
      root.sync(data(inode));
    } catch (ErrnoException e) {
      if (!e.is(Errno.ENOENT)) { // then the store has everything by now
        throw e;
      }
    }
  }

  /** Has the store asked again for what it has taken, since that may not be durable. */
  void takeAgain() {
    lock.lock();
    try {
      pendings.takeAgain();
    } catch (RuntimeException | Error e) {
      throw halt(e);
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of the last operation that is durable in the store. */
  public long durable() {
    lock.lock();
    try {
      return pendings.durable();
    } finally {
      lock.unlock();
    }
  }

  /** Tells whether a crash of the machine loses the front: it is in memory. */
  public boolean isVolatile() {
    long area = Linux.scratch().area();
    LIBC.fstatfs(root.fd(), area);
    long type = Memory.getLong(area);
    return type == TMPFS || type == RAMFS;
  }

  private static final long TMPFS = 0x01021994;
  private static final long RAMFS = 0x858458f6L;

  Cursor cursor() {
    return cursor;
  }

  /** Returns the number of the last operation, for waiting until the store has it. */
  long last() {
    lock.lock();
    try {
      return operations.last();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the number of the last operation on a path, or below or above it, that is pending. A
   * file with several names may have changed by any: then it is the last operation of all. One that
   * had several may have changed by any until it lost the last of them.
   */
  public long lastOf(String path) {
    lock.lock();
    try {
      return hasOtherNames(path)
          ? pendings.lastRelated("")
          : Math.max(pendings.lastRelated(path), lastLoss(path));
    } finally {
      lock.unlock();
    }
  }

  /** Tells whether there is such a path, or was when an operation was made that is pending. */
  public boolean isKnown(String path) throws ErrnoException {
    lock.lock();
    try {
      return tree.find(path).isPresent() || pendings.isKnown(path);
    } finally {
      lock.unlock();
    }
  }

  private boolean hasOtherNames(String path) {
    try {
      return tree.find(path)
          .map(this::shown)
          .filter(stat -> !stat.isDirectory() && stat.links() > 1)
          .isPresent();
    } catch (ErrnoException e) {
      return true;
    }
  }

  private long lastLoss(String path) {
    try {
      return tree.find(path)
          .filter(stat -> !stat.isDirectory())
          .map(stat -> pendings.lostName(stat.inode()))
          .orElse(0L);
    } catch (ErrnoException e) {
      return operations.last();
    }
  }

  /** Waits until something has changed, at most so long; callers look again then. */
  void awaitChange(long nanos) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long before = changes;
      long left = nanos;
      while (changes == before && left > 0 && !closed) {
        left = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Wakes those that wait for a change. */
  void signal() {
    lock.lock();
    try {
      change();
    } finally {
      lock.unlock();
    }
  }

  private void change() {
    changes++;
    changed.signalAll();
  }

  /** The bytes, operations and writers of a front at a moment. */
  record Usage(
      long bytes,
      long capacity,
      long pendingBytes,
      int pendingOperations,
      long oldest,
      int waiting) {}

  /** Returns what the front holds now; the oldest is 0 if nothing is pending. */
  Usage usage() {
    lock.lock();
    try {
      Pending oldest = pendings.oldest();
      return new Usage(
          used(),
          capacity,
          pendings.bytes(),
          pendingOperations(),
          oldest == null ? 0 : oldest.entry.time(),
          waiting);
    } finally {
      lock.unlock();
    }
  }

  /** Tells whether {@link #close} was called: nothing changes any more. */
  boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  /** Ends all waiting, and takes no change any more; the files stay. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      change();
    } finally {
      lock.unlock();
    }
  }

  /** Closes the files, once nobody uses the front any more. */
  public void closeFiles() {
    lock.lock();
    try {
      if (filesClosed) {
        return;
      }
      filesClosed = true;
      operations.close();
      cursor.close();
      tree.close();
      root.close();
    } finally {
      lock.unlock();
    }
  }
}
