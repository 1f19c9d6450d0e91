package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.checkpoint.OperationsLog.Entry;
import io.holdfast.fs.checkpoint.OperationsLog.Saved;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;
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
 * </pre>
 *
 * <p>The log has no bytes of files. They stay in the file that they were written to, which cannot
 * go away because of its second name. If a later operation is about to destroy bytes that the store
 * does not have yet, they are saved in the log first. So a checkpoint, which is written once, is
 * written once to the front, too.
 *
 * <p>A <i>stub</i> is a file of the tree whose bytes only the store has: it has its size and a
 * mark, an extended attribute.
 *
 * <p>Thread-safe. {@link #lock()} may be taken around several calls; nobody holds it while the
 * store works. Besides, there is only the lock of those that sync the front, which is taken first.
 */
public final class Front implements AutoCloseable {
  /** The mark of a stub. */
  static final String STUB = "trusted.holdfast.stub";

  /** The prefix of the attributes that are not shown. */
  public static final String HIDDEN_XATTR = "trusted.holdfast.";

  private static final Logger log = LoggerFactory.getLogger(Front.class);

  /** The most memory of the daemon that operations may take while they are pending, in bytes. */
  private static final long MOST_MEMORY = 128L << 20;

  private static final String DATA = "data";

  /** A file that becomes a stub of the tree once it is whole. */
  private static final String STAGED = "staged";

  private static final int KEEP_AND_PUNCH = 3;

  /** An operation that the store does not have durably. Guarded by the lock. */
  static final class Pending {
    final Entry entry;
    final List<Saved> saved = new ArrayList<>(0);

    Pending(Entry entry) {
      this.entry = entry;
    }

    long sequence() {
      return entry.sequence();
    }

    Operation operation() {
      return entry.operation();
    }
  }

  /** A file whose bytes are all durable in the store. */
  private record Clean(String path, long bytes) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final FileTree tree;
  private final FileTree root;
  private final OperationsLog operations;
  private final Cursor cursor;
  private final LongSupplier clock;
  private final long capacity;

  /** The operations that the store has not taken yet, and those that it has, not durably. */
  private final ArrayDeque<Pending> queue = new ArrayDeque<>();

  private final ArrayDeque<Pending> window = new ArrayDeque<>();

  /** By inode. */
  private final Map<Long, PendingFile> pendingFiles = new HashMap<>();

  private final Set<Long> stubs = new HashSet<>();

  /** By inode, the one that was written longest ago first. */
  private final Map<Long, Clean> clean = new LinkedHashMap<>();

  private final Map<Long, Integer> opened = new HashMap<>();
  private long durable;
  private long cleanBytes;
  private long pendingBytes;
  private long pendingMemory;
  private int waiting;
  private long changes;
  private boolean closed;

  /** The last operation that fsync has promised to survive a crash of the machine. */
  private long promised;

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
    root = FileTree.open(directory);
    tree = FileTree.open(directory.resolve("tree"));
    cursor = new Cursor(directory.resolve("cursor"));
    durable = cursor.durable();
    operations = new OperationsLog(directory.resolve("log"), cursor.durable() + 1, new Loading());
    root.sync(""); // without the cursor the store would get everything a second time
    promised = operations.last(); // perhaps: who was promised what is not known any more
    if (isSameBoot) {
      finishLast();
    }
    removeUnusedNames();
    find("");
  }

  /** Takes what the log has: the operations that are pending. */
  private final class Loading implements OperationsLog.Reader {
    private final Map<Long, Pending> writes = new HashMap<>();

    @Override
    public void entry(Entry entry) {
      if (entry.sequence() > cursor.durable()) {
        Pending pending = new Pending(entry);
        add(pending);
        writes.put(entry.sequence(), pending);
      }
    }

    @Override
    public void saved(Saved saved) {
      Pending pending = writes.get(saved.sequence());
      if (pending != null && pending.operation() instanceof Operation.Write write) {
        pending.saved.add(saved);
        file(write.inode()).cut(saved.offset(), saved.offset() + saved.length());
      }
    }
  }

  private PendingFile file(long inode) {
    return pendingFiles.computeIfAbsent(inode, key -> new PendingFile());
  }

  /** Notes an operation that is in the log. */
  private void add(Pending pending) {
    queue.add(pending);
    pendingMemory += pending.operation().weight();
    if (pending.operation() instanceof Operation.Write write) {
      pendingBytes += write.length();
      file(write.inode()).add(pending, write);
    }
  }

  /**
   * Brings the last operation of the log and the tree to the same state. Its program has not got an
   * answer, so either will do: an operation that is in part in the tree is logged for that part.
   */
  private void finishLast() throws ErrnoException {
    Pending last = queue.peekLast();
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
        takeBack(last);
      }
    } else if (!operation.isApplied(tree, last.entry.witness())) {
      takeBack(last);
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
      takeBack(last);
      if (length > 0) {
        Operation part =
            new Operation.Write(write.path(), write.inode(), write.offset(), length, crc);
        keepAgain(write);
        add(new Pending(operations.append(last.entry.time(), 0, part)));
        forgetClean(write.inode());
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

  private void takeBack(Pending last) throws ErrnoException {
    queue.removeLast();
    forget(last);
    operations.retract();
  }

  /** Finds the stubs and the clean files of a directory and below. */
  private void find(String directory) throws ErrnoException {
    for (FileTree.Entry entry : tree.list(directory)) {
      String path = FileTree.child(directory, entry.name());
      if (FileTree.isTooLong(path)) {
        log.warn("too deep to be shown: {}", FileTree.visible(path));
      } else if (entry.type() == Stat.DIRECTORY) {
        find(path);
      } else if (entry.type() == Stat.REGULAR) {
        Stat stat = tree.stat(path);
        if (tree.xattrNames(path).contains(STUB)) {
          stubs.add(stat.inode());
          if (stat.blocks() > 0) {
            punchIfPossible(path, stat);
          }
        } else if (!pendingFiles.containsKey(stat.inode())) {
          addClean(path, stat);
        }
      }
    }
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

  private void requireOpen() throws ErrnoException {
    if (closed) {
      throw ErrnoException.because(Errno.EIO, "", "the daemon ends");
    }
  }

  /** Returns false if the file system of the front was full, and may have room now. */
  private boolean tryPerform(Operation operation) throws ErrnoException, InterruptedException {
    if (operation instanceof Operation.Make || operation instanceof Operation.Link) {
      String path = operation.paths().get(operation.paths().size() - 1);
      if (tree.find(path).isPresent()) {
        throw ErrnoException.of(Errno.EEXIST, path);
      }
    }
    try {
      saveBefore(operation);
      Optional<Stat> gone = removed(operation);
      Entry entry = operations.append(clock.getAsLong(), operation.witness(tree), operation);
      try {
        operation.apply(tree);
      } catch (ErrnoException e) {
        operations.retract();
        throw e;
      }
      add(new Pending(entry));
      if (gone.isPresent()) {
        forgetClean(gone.get().inode());
        stubs.remove(gone.get().inode());
      }
      if (operation instanceof Operation.Resize resize
          && resize.size() == 0
          && stubs.contains(tree.stat(resize.path()).inode())) {
        isWhole(resize.path());
      }
      change();
      return true;
    } catch (ErrnoException e) {
      awaitRoomAfter(e);
      return false;
    }
  }

  /** Returns the file that loses its last name by an operation. */
  private Optional<Stat> removed(Operation operation) throws ErrnoException {
    List<String> paths = operation.paths();
    boolean removes =
        operation instanceof Operation.Remove
            || (operation instanceof Operation.Rename rename
                && (rename.flags() & Operation.Rename.EXCHANGE) == 0);
    return removes
        ? tree.find(paths.get(paths.size() - 1)).filter(stat -> stat.links() == 1)
        : Optional.empty();
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
    PendingFile file = pendingFiles.get(range.inode());
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
    try {
      save(inode, offset, Math.addExact(offset, length));
      if (path == null) {
        return writtenUnlogged(fd, address, length, offset);
      }
      keep(inode, fd);
      int crc = OperationsLog.crc(Memory.buffer(address, length));
      Operation.Write write = new Operation.Write(path, inode, offset, length, crc);
      Entry entry = operations.append(clock.getAsLong(), 0, write);
      int count = FileTree.write(fd, address, length, offset);
      if (count < length) {
        int errno = Linux.errno();
        operations.retract();
        if (count == 0) {
          throw ErrnoException.of(errno, path);
        }
        crc = OperationsLog.crc(Memory.buffer(address, count));
        write = new Operation.Write(path, inode, offset, count, crc);
        entry = operations.append(entry.time(), 0, write);
      }
      add(new Pending(entry));
      forgetClean(inode);
      change();
      return count;
    } catch (ErrnoException e) {
      removeUnusedName(inode);
      awaitRoomAfter(e);
      return 0;
    }
  }

  private static int writtenUnlogged(int fd, long address, int length, long offset)
      throws ErrnoException {
    int count = FileTree.write(fd, address, length, offset);
    if (count == 0) {
      throw ErrnoException.of(Linux.errno(), "");
    }
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
    } finally {
      lock.unlock();
    }
  }

  /** Gives a file its second name. */
  private void keep(long inode, int fd) throws ErrnoException {
    if (pendingFiles.containsKey(inode)) {
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
    if (!pendingFiles.containsKey(inode) && root.find(data(inode)).isPresent()) {
      root.remove(data(inode), false);
    }
  }

  /** The same for all files: the process was killed between a name and the operation. */
  private void removeUnusedNames() throws ErrnoException {
    removeStaged();
    for (FileTree.Entry entry : root.list(DATA)) {
      removeUnusedName(Long.parseUnsignedLong(entry.name()));
    }
  }

  private static final int AT_SYMLINK_FOLLOW = 0x400;

  private static String data(long inode) {
    return DATA + "/" + Long.toUnsignedString(inode);
  }

  /** Saves the pieces of a file within a range in the log; what reaches out of it stays. */
  private void save(long inode, long from, long to) throws ErrnoException {
    PendingFile file = pendingFiles.get(inode);
    if (file == null || file.overlapping(from, to).isEmpty()) {
      return;
    }
    boolean isPromised = false;
    int fd = root.open(data(inode), Linux.O_RDONLY);
    try {
      for (PendingFile.Piece piece : file.overlapping(from, to)) {
        isPromised |= piece.write().sequence() <= promised;
        long at = Math.max(from, piece.offset());
        long end = Math.min(to, piece.end());
        while (at < end) {
          int length = (int) Math.min(end - at, OperationsLog.LARGEST_SAVE);
          Saved saved = operations.save(piece.write().sequence(), fd, at, length);
          piece.write().saved.add(saved);
          file.cut(at, at + length);
          at += length;
        }
      }
    } finally {
      LIBC.close(fd);
    }
    if (isPromised) {
      syncLog(); // else a crash could leave neither the bytes in the file nor those in the log
    }
  }

  /**
   * Waits until a number of bytes fits, while the persister can still make room; returns whether it
   * has waited.
   */
  private boolean awaitRoom(long bytes) throws InterruptedException {
    boolean hasWaited = false;
    while (!closed && !hasRoom(bytes) && !evict(bytes) && pendingOperations() > 0) {
      waiting++;
      try {
        changed.await();
      } finally {
        waiting--;
      }
      hasWaited = true;
    }
    return hasWaited;
  }

  private boolean hasRoom(long bytes) {
    return used() + bytes <= capacity && pendingMemory < MOST_MEMORY;
  }

  /**
   * After the file system of the front was full: waits for room if there may be some, or else
   * throws the failure.
   */
  private void awaitRoomAfter(ErrnoException failure) throws ErrnoException, InterruptedException {
    boolean full = failure.is(Errno.ENOSPC) || failure.is(Errno.EDQUOT);
    boolean mayHaveRoom =
        pendingOperations() > 0 || clean.keySet().stream().anyMatch(each -> !isOpen(each));
    if (!full || closed || !mayHaveRoom) {
      throw failure;
    }
    if (!evict(Integer.MAX_VALUE)) {
      waiting++;
      try {
        awaitChange(TimeUnit.SECONDS.toNanos(1));
      } finally {
        waiting--;
      }
    }
  }

  private long used() {
    return pendingBytes + cleanBytes + operations.bytes();
  }

  /** Returns the number of operations that the store does not have durably. */
  public int pendingOperations() {
    lock.lock();
    try {
      return queue.size() + window.size();
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
      for (Pending pending : queue) {
        if (pending.operation() instanceof Operation.Write && !isWhole(pending, buffer)) {
          break;
        }
        whole++;
      }
      int lost = queue.size() - whole;
      for (int i = 0; i < lost; i++) {
        forget(queue.removeLast());
      }
      return lost;
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
      more = evictOne(path -> true);
    }
    return hasRoom(bytes);
  }

  /** Makes a stub of the file that was written longest ago and is not open, if there is one. */
  private boolean evictOne(Predicate<String> which) {
    for (Map.Entry<Long, Clean> each : clean.entrySet()) {
      long inode = each.getKey();
      if (which.test(each.getValue().path()) && !isOpen(inode)) {
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

  /** Looks for a name of a file in the whole tree. */
  @Nullable String pathOf(long inode) {
    lock.lock();
    try {
      return pathOf("", inode);
    } catch (ErrnoException e) {
      log.warn("a name of a file cannot be found: {}", e.getMessage());
      return null;
    } finally {
      lock.unlock();
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

  private boolean makeStub(long inode, String path) {
    try {
      Optional<Stat> there = tree.find(path).filter(stat -> stat.inode() == inode);
      if (there.isEmpty()) {
        return false;
      }
      Stat stat = there.get();
      tree.setXattr(path, STUB, new byte[] {'1'}, 0);
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

  /** The same for what a fetch has left that was not finished: it would take room for ever. */
  private void punchIfPossible(String path, Stat stat) {
    try {
      punch(path, stat);
    } catch (ErrnoException e) {
      log.warn("a part of a file stays in the front, and takes room: {}", e.getMessage());
    }
  }

  /** Makes stubs of all clean files but those of some checkpoints. */
  void keepOnly(Set<String> kept) {
    lock.lock();
    try {
      boolean more = true;
      while (more) {
        more = evictOne(path -> !kept.contains(unit(path)));
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

  private void addClean(String path, Stat stat) {
    forgetClean(stat.inode());
    long bytes = stat.blocks() * 512;
    if (bytes > 0) {
      clean.put(stat.inode(), new Clean(path, bytes));
      cleanBytes += bytes;
    }
  }

  private void forgetClean(long inode) {
    Clean file = clean.remove(inode);
    if (file != null) {
      cleanBytes -= file.bytes();
    }
  }

  /** Notes that a file is open, so that it does not become a stub. */
  void opened(long inode) {
    lock.lock();
    try {
      opened.merge(inode, 1, Integer::sum);
    } finally {
      lock.unlock();
    }
  }

  /** Takes {@link #opened} back. */
  void released(long inode) {
    lock.lock();
    try {
      opened.computeIfPresent(inode, (key, count) -> count == 1 ? null : count - 1);
    } finally {
      lock.unlock();
    }
  }

  private boolean isOpen(long inode) {
    return opened.containsKey(inode);
  }

  /** Tells whether only the store has a file's bytes. */
  boolean isStub(long inode) {
    lock.lock();
    try {
      return stubs.contains(inode);
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
      if (stat.isRegular()) {
        stage(stat, xattrs);
        long inode = root.stat(STAGED).inode();
        root.rename(STAGED, FileTree.child("tree", path), 0);
        stubs.add(inode);
        return;
      }
      tree.make(path, stat.mode(), stat.device(), stat.uid(), stat.gid(), target);
      for (Map.Entry<String, byte[]> xattr : xattrs.entrySet()) {
        tree.setXattr(path, xattr.getKey(), xattr.getValue(), 0);
      }
      tree.times(path, stat.accessed(), stat.modified());
    } finally {
      lock.unlock();
    }
  }

  private void stage(Stat stat, Map<String, byte[]> xattrs) throws ErrnoException {
    removeStaged();
    root.make(STAGED, stat.mode(), stat.device(), stat.uid(), stat.gid(), "");
    root.setXattr(STAGED, STUB, new byte[] {'1'}, 0);
    for (Map.Entry<String, byte[]> xattr : xattrs.entrySet()) {
      root.setXattr(STAGED, xattr.getKey(), xattr.getValue(), 0);
    }
    root.resize(STAGED, stat.size());
    root.times(STAGED, stat.accessed(), stat.modified());
  }

  private void removeStaged() throws ErrnoException {
    if (root.find(STAGED).isPresent()) {
      root.remove(STAGED, false);
    }
  }

  /**
   * Takes a name of a stub away whose bytes nobody has, or that the store has otherwise by now. The
   * file stays a stub as long as it has another name.
   */
  void forgetStub(String path) throws ErrnoException {
    lock.lock();
    try {
      Stat stat = tree.stat(path);
      tree.remove(path, false);
      if (stat.links() == 1) {
        stubs.remove(stat.inode());
      }
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
        forgetClean(stat.inode());
      } finally {
        LIBC.close(fd);
      }
    } finally {
      LIBC.free(buffer);
      lock.unlock();
    }
  }

  private void logAgain(Operation operation) throws ErrnoException {
    add(new Pending(operations.append(clock.getAsLong(), 0, operation)));
    change();
  }

  /**
   * Fetches the bytes of a stub.
   *
   * @param from the file at the store, open
   * @param buffer room for so many bytes
   */
  void fetch(long inode, int from, long buffer, int length) throws ErrnoException {
    String path = pathOf(inode);
    if (path == null) {
      throw ErrnoException.of(Errno.ENOENT, "");
    }
    Stat before = tree.stat(path);
    makeRoom(before.size());
    int to = tree.open(path, FileTree.O_WRONLY);
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
    } finally {
      LIBC.close(to);
    }
    lock.lock();
    try {
      String now = pathOf(inode);
      if (now != null) {
        tree.times(now, before.accessed(), before.modified());
        isWhole(now);
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
        punchIfPossible(path, before);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Notes that the front has the bytes of a file that was a stub. */
  private void isWhole(String path) throws ErrnoException {
    lock.lock();
    try {
      tree.removeXattr(path, STUB);
      Stat stat = tree.stat(path);
      stubs.remove(stat.inode());
      addClean(path, stat);
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

  /** Without the second name. */
  private Stat shown(Stat stat) {
    if (!pendingFiles.containsKey(stat.inode()) || !stat.isRegular()) {
      return stat;
    }
    return new Stat(
        stat.inode(),
        stat.mode(),
        stat.links() - 1,
        stat.uid(),
        stat.gid(),
        stat.device(),
        stat.size(),
        stat.blocks(),
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
      while (queue.isEmpty() && left > 0 && !closed) {
        left = changed.awaitNanos(left);
      }
      return queue.peek();
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
            file(write.inode()).overlapping(write.offset(), write.end())) {
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
      if (queue.poll() != pending) {
        throw new IllegalStateException("operations are taken in their order");
      }
      window.add(pending);
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
      List<Pending> done = List.copyOf(window);
      window.clear();
      durable = last.sequence();
      done.forEach(this::forget);
      change();
      operations.trim(durable);
    } finally {
      lock.unlock();
    }
  }

  private @Nullable Pending lastTaken() {
    lock.lock();
    try {
      return window.peekLast();
    } finally {
      lock.unlock();
    }
  }

  /** Notes that an operation is not pending any more. */
  private void forget(Pending pending) {
    pendingMemory -= pending.operation().weight();
    if (pending.operation() instanceof Operation.Write write) {
      done(pending, write);
    } else if (pending.operation() instanceof Operation.Rename rename) {
      renamed(rename, pending.entry.witness());
    }
  }

  /** Takes the second name of a file away once no operation needs it. */
  private void done(Pending pending, Operation.Write write) {
    pendingBytes -= write.length();
    if (!file(write.inode()).remove(pending, write)) {
      return;
    }
    pendingFiles.remove(write.inode());
    try {
      Optional<Stat> there = root.find(data(write.inode()));
      if (there.isPresent()) {
        root.remove(data(write.inode()), false);
        if (there.get().links() > 1) {
          addClean(write.path(), there.get());
        }
      }
    } catch (ErrnoException e) {
      log.warn("a second name of a file stays until the next mount: {}", e.getMessage());
    }
  }

  /** Notes the new names of clean files, which are those of the store. */
  private void renamed(Operation.Rename rename, long inode) {
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

  /** Makes the log survive a crash of the machine, before the store changes. */
  void syncLog() throws ErrnoException {
    int fd;
    long segment;
    boolean isNamed;
    lock.lock();
    try {
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
      long last;
      Map<Long, PendingFile> files;
      lock.lock();
      try {
        last = operations.last();
        files = unsyncedFiles();
      } finally {
        lock.unlock();
      }
      try {
        for (long inode : files.keySet()) {
          syncData(inode);
        }
        root.sync(DATA);
        syncLog();
      } catch (ErrnoException e) {
        areUnsynced(files);
        throw e;
      }
      promise(last);
    } finally {
      syncing.unlock();
    }
  }

  /** Returns the files with bytes that were not synced, and notes that they are. */
  private Map<Long, PendingFile> unsyncedFiles() {
    Map<Long, PendingFile> files = new HashMap<>();
    pendingFiles.forEach(
        (inode, file) -> {
          if (file.setSynced(true)) {
            files.put(inode, file);
          }
        });
    return files;
  }

  /** Returns the number of files with bytes that a crash of the machine could damage. */
  int unsynced() {
    lock.lock();
    try {
      return (int) pendingFiles.values().stream().filter(file -> !file.isSynced()).count();
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

  private void promise(long last) {
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
      while (!window.isEmpty()) {
        queue.addFirst(window.removeLast());
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of the last operation that is durable in the store. */
  public long durable() {
    lock.lock();
    try {
      return durable;
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
   * file with several names may have changed by any: then it is the last operation of all.
   */
  public long lastOf(String path) {
    lock.lock();
    try {
      return lastRelated(hasOtherNames(path) ? "" : path);
    } finally {
      lock.unlock();
    }
  }

  /** Tells whether there is such a path, or was when an operation was made that is pending. */
  public boolean isKnown(String path) throws ErrnoException {
    lock.lock();
    try {
      return tree.find(path).isPresent()
          || Stream.concat(window.stream(), queue.stream())
              .flatMap(pending -> pending.operation().paths().stream())
              .anyMatch(other -> !other.isEmpty() && related(other, path));
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

  private long lastRelated(String path) {
    Iterator<Pending> each = queue.descendingIterator();
    while (each.hasNext()) {
      Pending pending = each.next();
      if (pending.operation().paths().stream().anyMatch(other -> related(other, path))) {
        return pending.sequence();
      }
    }
    Pending last = window.peekLast();
    return last == null ? durable : last.sequence();
  }

  private static boolean related(String one, String other) {
    return one.equals(other)
        || other.isEmpty()
        || one.isEmpty()
        || one.startsWith(other + "/")
        || other.startsWith(one + "/");
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
      Pending oldest = window.isEmpty() ? queue.peek() : window.peek();
      return new Usage(
          used(),
          capacity,
          pendingBytes,
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
      operations.close();
      cursor.close();
      tree.close();
      root.close();
    } finally {
      lock.unlock();
    }
  }
}
