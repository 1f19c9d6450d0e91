package io.holdfast.fs.linux;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.MemoryParts.Part;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory at one address that grows at its end, and that may be a file: then it is there again, with
 * what it held, when the process has been killed and the next one opens it. Meant for a filesystem
 * that is memory itself (tmpfs); nothing is ever synchronised to a disk.
 *
 * <p>The whole address range is mapped at once; pages are taken as they are {@linkplain #reserve
 * reserved}. Where the file's filesystem has no room, the rest of the range is a file elsewhere,
 * and where there is room nowhere, memory of this process, which nobody finds after it. Which part
 * is where is in the first page of the file: {@link MemoryParts}. A page that nobody has reserved
 * must neither be written nor read: that takes a page as well, and ends the process where there is
 * none.
 *
 * <p>Thread-safe as memory is; the monitor guards the parts.
 */
public final class GrowingMemory implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(GrowingMemory.class);

  /** Address space, not memory: enough for 100 million names. */
  private static final long RANGE = 1L << 34;

  /** How much is reserved at a time. */
  private static final long STEP = 256 << 10;

  /** What a reservation leaves of the filesystem of the file, to the small files beside it. */
  private static final long LEFT = STEP;

  private static final long HEADER = Linux.PAGE_SIZE;
  private static final long WARN_NANOS = TimeUnit.MINUTES.toNanos(1);

  private static final int PROT_READ_WRITE = 3;
  private static final int MAP_SHARED = 1;
  private static final int MAP_FIXED = 0x10;

  private final String what;
  private final MemoryParts parts;
  private final long range;
  private final long mapping;
  private final AtomicBoolean closed = new AtomicBoolean();

  /** Guarded by this; with the header. */
  private long reserved;

  private boolean warned;
  private long lastWarning;

  private GrowingMemory(String what, MemoryParts parts, long range) throws FsException {
    this.what = what;
    this.parts = parts;
    this.range = range;
    try {
      mapping = map(null, parts.first(), range, 0);
    } catch (FsException e) {
      parts.close();
      throw e;
    }
    boolean opened = false;
    try {
      open();
      opened = true;
    } finally {
      if (!opened) {
        close();
      }
    }
  }

  private void open() throws FsException {
    if (parts.isNew()) {
      if (LIBC.fallocate(parts.first().fd(), 0, 0, HEADER) != 0) {
        throw Linux.failure(Linux.errno(), what + ": no room for it");
      }
      parts.begin(mapping);
      reserved = HEADER;
      return;
    }
    for (Part part : parts.read(mapping)) {
      map(Pointer.wrap(Runtime.getSystemRuntime(), mapping + part.from()), part);
    }
    reserved = parts.reserved(mapping);
  }

  private void map(Pointer at, Part part) throws FsException {
    long unused = map(at, part, range - part.from(), MAP_FIXED);
  }

  private long map(@Nullable Pointer at, Part part, long length, int flags) throws FsException {
    Pointer mapped =
        LIBC.ftruncate(part.fd(), range) == 0
            ? LIBC.mmap(at, length, PROT_READ_WRITE, MAP_SHARED | flags, part.fd(), part.from())
            : null;
    if (mapped == null || mapped.address() == -1) {
      throw Linux.failure(Linux.errno(), part.name());
    }
    return mapped.address();
  }

  /** Returns memory that ends with the process. */
  public static GrowingMemory ofProcess(String what) throws FsException {
    return ofProcess(what, RANGE);
  }

  /**
   * The same with another range of addresses.
   *
   * @param range bytes; there is never room for as many
   */
  public static GrowingMemory ofProcess(String what, long range) throws FsException {
    return new GrowingMemory(what, MemoryParts.ofProcess(what), range);
  }

  /** Opens a file, or creates it; all of it is there. */
  public static GrowingMemory at(Path file) throws FsException {
    return at(file, List.of());
  }

  /**
   * Opens a file, or creates it.
   *
   * @param elsewhere directories for what finds no room there, in the order in which they are used
   * @throws FsException UNAVAILABLE where a part of what the file held is gone, with the process
   *     that had it in its own memory
   */
  public static GrowingMemory at(Path file, List<Path> elsewhere) throws FsException {
    return new GrowingMemory(file.toString(), MemoryParts.of(file, elsewhere), RANGE);
  }

  /** Returns where it begins; what was reserved and never written is zero. */
  public long address() {
    return mapping + HEADER;
  }

  /** Returns the end of what has been reserved, by this process or one before it. */
  public synchronized long reserved() {
    return reserved - HEADER;
  }

  /** Returns the bytes of it that found no room in the file. */
  public synchronized long elsewhere() {
    return reserved - Math.min(reserved, parts.endOfFirst());
  }

  /**
   * Makes sure that everything below an offset can be written. A page that could not be had would
   * end the process when it is touched.
   *
   * @throws FsException NO_MEMORY where there is none left
   */
  public synchronized void reserve(long end) throws FsException {
    long wanted = Math.addExact(end, HEADER);
    while (reserved < wanted) {
      long next = reserved / STEP * STEP + STEP;
      if (next > range) {
        throw noMemory("its range of addresses is used up");
      }
      while (!allocate(parts.last(), next)) {
        goElsewhere(Linux.describe(Linux.errno()));
      }
      reserved = next;
      parts.setReserved(mapping, next);
    }
  }

  private boolean allocate(Part part, long next) {
    return part.leaves(part.from() == 0 ? LEFT + next - reserved : next - reserved)
        && LIBC.fallocate(part.fd(), 0, reserved, next - reserved) == 0;
  }

  /** Has the range go on in another place from here. */
  private void goElsewhere(String why) throws FsException {
    Part next = parts.open(reserved);
    if (next == null) {
      throw noMemory(why);
    }
    map(Pointer.wrap(Runtime.getSystemRuntime(), mapping + reserved), next);
    parts.add(mapping, next);
    if (next.isOfProcess()) {
      log.error(
          "{} has no room beyond {} bytes, nor has any other place: it goes on in the daemon's own"
              + " memory, and the mount ends if the daemon is killed; fix: unmount, give its"
              + " filesystem more room, and mount again",
          what,
          reserved);
    } else {
      log.warn(
          "{} has no room beyond {} bytes: it goes on in {}; fix: unmount, give its filesystem more"
              + " room, and mount again",
          what,
          reserved,
          next.name());
    }
  }

  private FsException noMemory(String why) {
    if (!warned || System.nanoTime() - lastWarning > WARN_NANOS) {
      warned = true;
      lastWarning = System.nanoTime();
      log.error(
          "{}: no memory beyond {} bytes: {}: what needs more fails with an error; fix: unmount,"
              + " give its filesystem and the machine more room, and mount again",
          what,
          reserved,
          why);
    }
    return new FsException(
        FsError.NO_MEMORY, what + ": no memory beyond " + reserved + " bytes: " + why);
  }

  /**
   * Brings pages into this process, with what they hold, so that nobody who writes to them has to
   * wait for a page; without swap they stay. To be called before others write there.
   */
  public void touch(long from, long to) {
    for (long at = from / Linux.PAGE_SIZE * Linux.PAGE_SIZE; at < to; at += Linux.PAGE_SIZE) {
      long touched = address() + Math.max(at, from);
      Memory.putByte(touched, Memory.getByte(touched));
    }
  }

  /**
   * Removes what found no room in a directory and went to another one; what is mapped stays so.
   *
   * @param directory of the files that no process opens any more
   */
  public static void removeElsewhere(Path directory, Path elsewhere) throws IOException {
    MemoryParts.remove(directory, elsewhere);
  }

  /** Ends the mapping; nobody may use the memory any more. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      LIBC.munmap(mapping, range);
      parts.close();
    }
  }
}
