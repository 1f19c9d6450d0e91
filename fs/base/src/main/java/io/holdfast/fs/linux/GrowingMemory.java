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
 * Memory at one address that grows at its end. It may be a file: if the process is killed, the next
 * one opens the file and has the same content. Meant for tmpfs; nothing is ever synchronised to a
 * disk.
 *
 * <p>The whole address range is mapped at once; a page takes memory when it is {@linkplain #reserve
 * reserved}. If the file's filesystem has no room, the rest of the range is a file elsewhere. If no
 * place has room, the rest is memory of this process, which the next one cannot find. The first
 * page of the file says where each part is ({@link MemoryParts}). A page that is not reserved must
 * be neither written nor read: the access would take a page, and end the process if there is none.
 *
 * <p>Thread-safe as memory is; the monitor guards the parts.
 */
public final class GrowingMemory implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(GrowingMemory.class);

  /** Address space, not memory: enough for 100 million names. */
  private static final long RANGE = 1L << 34;

  /** How much is reserved at a time. */
  private static final long STEP = 256 << 10;

  /**
   * The bytes that a reservation leaves free on the file's filesystem, for the small files beside
   * it.
   */
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
   * Returns the same with another range of addresses.
   *
   * @param range bytes; there is never room for as many
   */
  public static GrowingMemory ofProcess(String what, long range) throws FsException {
    return new GrowingMemory(what, MemoryParts.ofProcess(what), range);
  }

  /** Opens a file, or creates it, with no places elsewhere. */
  public static GrowingMemory at(Path file) throws FsException {
    return at(file, List.of());
  }

  /**
   * Opens a file, or creates it.
   *
   * @param elsewhere directories for parts that have no room there, in the order in which they are
   *     used
   * @throws FsException UNAVAILABLE if a part was in the memory of a process that has ended
   */
  public static GrowingMemory at(Path file, List<Path> elsewhere) throws FsException {
    return new GrowingMemory(file.toString(), MemoryParts.of(file, elsewhere), RANGE);
  }

  /** Returns the address of its beginning. Bytes that were reserved and never written are zero. */
  public long address() {
    return mapping + HEADER;
  }

  /** Returns the end of the reserved bytes, by this process or one before it. */
  public synchronized long reserved() {
    return reserved - HEADER;
  }

  /** Returns the reserved bytes that had no room in the file. */
  public synchronized long elsewhere() {
    return reserved - Math.min(reserved, parts.endOfFirst());
  }

  /**
   * Makes sure that everything below an offset can be written. To touch a page for which there is
   * no memory would end the process.
   *
   * @throws FsException NO_MEMORY if there is none left
   */
  public void reserve(long end) throws FsException {
    reserve(end, true);
  }

  /**
   * Does the same, but goes to no other place.
   *
   * @throws FsException NO_MEMORY if there is no room in this one
   */
  public void reserveInFile(long end) throws FsException {
    reserve(end, false);
  }

  private synchronized void reserve(long end, boolean mayGoElsewhere) throws FsException {
    long wanted = Math.addExact(end, HEADER);
    while (reserved < wanted) {
      long next = reserved / STEP * STEP + STEP;
      if (next > range) {
        throw noMemory("its range of addresses is used up");
      }
      while (!allocate(parts.last(), next)) {
        if (!mayGoElsewhere) {
          throw new FsException(
              FsError.NO_MEMORY, what + ": no room beyond " + reserved + " bytes");
        }
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

  /** Continues the range in another place from here. */
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
   * Maps pages into this process, with their content, so that a write there never waits for a page.
   * Without swap the pages stay. To be called before others write there.
   */
  public void touch(long from, long to) {
    for (long at = from / Linux.PAGE_SIZE * Linux.PAGE_SIZE; at < to; at += Linux.PAGE_SIZE) {
      long touched = address() + Math.max(at, from);
      Memory.putByte(touched, Memory.getByte(touched));
    }
  }

  /**
   * Removes the parts elsewhere of a directory's files. Parts that are mapped stay mapped.
   *
   * @param directory the directory of files that no process opens any more
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
