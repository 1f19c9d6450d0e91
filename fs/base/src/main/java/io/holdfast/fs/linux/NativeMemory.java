package io.holdfast.fs.linux;

import static io.holdfast.fs.linux.Libc.LIBC;
import static io.holdfast.fs.linux.Linux.PAGE_SIZE;

import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import org.jspecify.annotations.Nullable;

/**
 * Native memory for the bytes of items, and mappings of files that hold such bytes. Thread-safe.
 *
 * <p>With {@code -Dholdfast.guard-pages=true}, for tests, each piece has a page before and behind
 * it that nobody can touch, and ends at the end of a page. Code that reads one byte beyond the
 * piece ends the process, and a system call that does so fails. A mapping has its guard behind the
 * last page.
 */
public final class NativeMemory {
  private static final boolean GUARDED = Boolean.getBoolean("holdfast.guard-pages");

  /**
   * The least length that begins at a page: a store that copies straight into the reader's memory
   * wants whole pages for large reads.
   */
  private static final long LARGE = 128 << 10;

  private static final int PROT_NONE = 0;
  private static final int PROT_READ = 1;
  private static final int PROT_READ_WRITE = 3;
  private static final int MAP_SHARED = 1;
  private static final int MAP_PRIVATE = 2;
  private static final int MAP_FIXED = 0x10;
  private static final int MAP_ANONYMOUS = 0x20;
  private static final int MAP_LOCKED = 0x2000;
  private static final int MAP_NORESERVE = 0x4000;

  private NativeMemory() {}

  /** Allocates memory; returns its address, or 0 if there is none. */
  public static long allocate(long length) {
    if (!GUARDED) {
      return length < LARGE ? LIBC.malloc(length) : fromAPage(length);
    }
    long inside = reserve(length);
    if (inside <= 0 || LIBC.mprotect(inside, wholePages(length), PROT_READ_WRITE) != 0) {
      return 0;
    }
    return inside + wholePages(length) - length;
  }

  /**
   * Allocates memory that begins at a page. The address that malloc returned is written right
   * before it. aligned_alloc is not used: glibc does not reuse freed memory for the next allocation
   * of the same length, and takes several times the memory that is in use.
   */
  private static long fromAPage(long length) {
    long given = LIBC.malloc(length + PAGE_SIZE + Long.BYTES);
    if (given == 0) {
      return 0;
    }
    long address = (given + Long.BYTES + PAGE_SIZE - 1) / PAGE_SIZE * PAGE_SIZE;
    Memory.putLong(address - Long.BYTES, given);
    return address;
  }

  /** Frees memory that was allocated with this length. */
  public static void free(long address, long length) {
    if (!GUARDED) {
      LIBC.free(length < LARGE || address == 0 ? address : Memory.getLong(address - Long.BYTES));
    } else if (address != 0) {
      giveUp(address + length - wholePages(length), length);
    }
  }

  /**
   * Maps a part of a file to be read.
   *
   * @param offset at the beginning of a page
   * @return its address, or a negative errno
   */
  public static long map(int fd, long offset, long length) {
    return map(fd, offset, length, PROT_READ, MAP_SHARED);
  }

  /** Does the same, so that the part can also be written. */
  public static long mapWritable(int fd, long offset, long length) {
    return map(fd, offset, length, PROT_READ_WRITE, MAP_SHARED);
  }

  /**
   * Maps a part of a file to be read, and locks its pages in memory. The kernel does not tell of a
   * page that it could not bring into memory.
   *
   * @return its address, or a negative errno: EAGAIN beyond the bound of locked memory
   */
  public static long mapLocked(int fd, long offset, long length) {
    return map(fd, offset, length, PROT_READ, MAP_SHARED | MAP_LOCKED);
  }

  private static long map(int fd, long offset, long length, int protection, int flags) {
    if (!GUARDED) {
      return address(LIBC.mmap(null, length, protection, flags, fd, offset));
    }
    long inside = reserve(length);
    if (inside <= 0) {
      return inside;
    }
    Pointer place = Pointer.wrap(Runtime.getSystemRuntime(), inside);
    long mapped = address(LIBC.mmap(place, length, protection, flags | MAP_FIXED, fd, offset));
    if (mapped < 0) {
      giveUp(inside, length);
    }
    return mapped;
  }

  /** Ends a mapping. Needs no descriptor and waits for nobody, so any thread may call it. */
  public static void unmap(long address, long length) {
    if (GUARDED) {
      giveUp(address, length);
    } else {
      LIBC.munmap(address, length);
    }
  }

  private static long address(@Nullable Pointer mapping) {
    return mapping == null || mapping.address() == -1 ? -Linux.errno() : mapping.address();
  }

  /**
   * Reserves pages that nobody can touch yet, between two pages that nobody ever can; returns the
   * address of the first.
   */
  private static long reserve(long length) {
    long all = wholePages(length) + 2L * PAGE_SIZE;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    long outside = address(LIBC.mmap(null, all, PROT_NONE, flags, -1, 0));
    return outside <= 0 ? outside : outside + PAGE_SIZE;
  }

  private static void giveUp(long inside, long length) {
    LIBC.munmap(inside - PAGE_SIZE, wholePages(length) + 2L * PAGE_SIZE);
  }

  private static long wholePages(long length) {
    return (length + PAGE_SIZE - 1L) / PAGE_SIZE * PAGE_SIZE;
  }
}
