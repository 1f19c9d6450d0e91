package io.holdfast.fs.residency;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.NativeMemory;
import io.holdfast.fs.origin.Version;
import io.holdfast.fs.transit.Item;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import java.util.function.IntToLongFunction;
import jnr.constants.platform.Errno;
import jnr.ffi.Pointer;

/**
 * Makes the system calls on the own mount. Each of them may wait for the daemon itself, so only
 * isolated threads make them. Thread-safe: every thread has its own descriptor of the mount's root.
 *
 * <p>Pages are read with pread before they are mapped and locked. A page fault that waits for the
 * daemon may hold the address space's lock, which the daemon's own threads need to answer the
 * fault.
 */
final class OwnMount {
  private static final int POSIX_FADV_WILLNEED = 3;
  private static final int MADV_POPULATE_READ = 22;

  private static final int OPEN_FLAGS =
      Linux.O_RDONLY | Linux.O_NOFOLLOW | Linux.O_CLOEXEC | Linux.O_NONBLOCK;

  /**
   * Larger than one request of the binding; for a longer item, the kernel is asked to read all of
   * it ahead.
   */
  private static final int READ_AHEAD_FROM = 128 << 10;

  private static final int BUFFER = 256 << 10;
  private static final int DROP_ATTEMPTS = 4;
  private static final int REHOME_ATTEMPTS = 8;
  private static final long DROP_PAUSE_NANOS = 50_000;

  private static final int STATX_DONT_SYNC = 0x4000;
  private static final int STATX_IDENTITY = 0x3c0;
  private static final int STATX_INODE_OFFSET = 32;
  private static final int STATX_SIZE_OFFSET = 40;
  private static final int STATX_CHANGED_OFFSET = 96;
  private static final int STATX_MODIFIED_OFFSET = 112;
  private static final long NANOS = 1_000_000_000;

  private final IntSupplier opener;
  private final IntToLongFunction nodeOf;

  /** An isolated thread's own descriptor and buffer. */
  private static final class Own {
    int root = -1;
    final Pointer buffer =
        jnr.ffi.Memory.allocateDirect(jnr.ffi.Runtime.getSystemRuntime(), BUFFER, false);
  }

  private final ThreadLocal<Own> own = ThreadLocal.withInitial(Own::new);

  /**
   * Creates the calls.
   *
   * @param opener opens the mount's root: returns a descriptor, or a negative errno
   * @param nodeOf returns the node of an open file; 0 where the mount does not tell
   */
  OwnMount(IntSupplier opener, IntToLongFunction nodeOf) {
    this.opener = opener;
    this.nodeOf = nodeOf;
  }

  /**
   * Maps an item with all its pages in memory. If a peer asked for this version, and no program of
   * this node, the kernel may still know another version under the name; then the result is ESTALE.
   *
   * @param rehome whether to drop the cached pages first, so that the daemon's memory cgroup is
   *     charged for them
   * @param lock whether to lock the pages; if they are only mapped, the kernel may reclaim them
   *     when memory is short
   * @return the mapping's address, or a negative errno
   */
  long pin(Item item, byte[] path, boolean rehome, boolean lock) {
    int fd = open(path);
    if (fd < 0) {
      return fd;
    }
    try {
      if (!shows(fd, item)) {
        return -Errno.ESTALE.intValue();
      }
      if (rehome) {
        drop(fd, item.offset(), item.length(), REHOME_ATTEMPTS);
      }
      int errno = populate(fd, item.offset(), item.length());
      return errno != 0 ? -errno : map(fd, item.offset(), item.length(), lock);
    } finally {
      LIBC.close(fd);
    }
  }

  private static long map(int fd, long offset, int length, boolean lock) {
    return lock ? mapLocked(fd, offset, length) : mapOnly(fd, offset, length);
  }

  /**
   * Maps and locks in one call, which takes the lock of the address space once; then makes sure
   * that no page was missing, of which that call would not tell.
   */
  private static long mapLocked(int fd, long offset, int length) {
    long address = NativeMemory.mapLocked(fd, offset, length);
    if (address < 0) {
      return address == -Errno.EAGAIN.intValue() ? -Errno.ENOMEM.intValue() : address;
    }
    if (Linux.cachedPages(fd, offset, length) != pages(length)
        && LIBC.mlock(address, length) != 0) {
      int errno = Linux.errno();
      NativeMemory.unmap(address, length);
      return -errno;
    }
    return address;
  }

  private static long mapOnly(int fd, long offset, int length) {
    long address = NativeMemory.map(fd, offset, length);
    if (address >= 0) {
      // a kernel before 5.14 does not know this; the pages have been read all the same
      LIBC.madvise(address, length, MADV_POPULATE_READ);
    }
    return address;
  }

  /** Reads every page into the page cache; returns 0 or a positive errno. */
  private int populate(int fd, long offset, int length) {
    if (Linux.cachedPages(fd, offset, length) == pages(length)) {
      return 0;
    }
    // no read-ahead beyond the range
    LIBC.posix_fadvise(fd, 0, 0, Linux.POSIX_FADV_RANDOM);
    if (length > READ_AHEAD_FROM) {
      LIBC.posix_fadvise(fd, offset, length, POSIX_FADV_WILLNEED);
    }
    long buffer = own.get().buffer.address();
    for (int done = 0; done < length; ) {
      long count = LIBC.pread(fd, buffer, Math.min(BUFFER, length - done), offset + done);
      if (count < 0) {
        return Linux.errno();
      }
      if (count == 0) {
        return Errno.ESTALE.intValue();
      }
      done += (int) count;
    }
    return 0;
  }

  /**
   * Drops an item's pages from the page cache. If the name leads to another version by now, drops
   * nothing: this version's pages went with its entry, and the other version's pages may be pinned.
   *
   * @return pages of the item that are still cached, because an application has them mapped or is
   *     reading them now; or a negative errno
   */
  long drop(byte[] path, Item item) {
    return drop(path, item, DROP_ATTEMPTS);
  }

  private long drop(byte[] path, Item item, int attempts) {
    int fd = open(path);
    if (fd < 0) {
      return fd;
    }
    try {
      return shows(fd, item) ? drop(fd, item.offset(), item.length(), attempts) : 0;
    } finally {
      LIBC.close(fd);
    }
  }

  /**
   * Maps an item whose pages are all cached. A kernel before 6.5 cannot tell whether they are;
   * there, missing pages are read.
   *
   * @return the mapping's address, or a negative errno: EAGAIN where pages are missing, ESTALE
   *     where the name leads to another version
   */
  long pinCached(Item item, byte[] path, boolean lock) {
    int fd = open(path);
    if (fd < 0) {
      return fd;
    }
    try {
      if (!shows(fd, item)) {
        return -Errno.ESTALE.intValue();
      }
      long cached = Linux.cachedPages(fd, item.offset(), item.length());
      if (cached >= 0 && cached < pages(item.length())) {
        return -Errno.EAGAIN.intValue();
      }
      int errno = populate(fd, item.offset(), item.length());
      return errno != 0 ? -errno : map(fd, item.offset(), item.length(), lock);
    } finally {
      LIBC.close(fd);
    }
  }

  /** Opens and closes a file, if there is one, so that the kernel knows it. */
  void lookUp(byte[] path) {
    int fd = open(path);
    if (fd >= 0) {
      LIBC.close(fd);
    }
  }

  /**
   * Drops an item's pages before they are brought in again, charged to the daemon's memory cgroup.
   * Pages that cannot be dropped keep their charge.
   */
  void clear(byte[] path, Item item) {
    drop(path, item, REHOME_ATTEMPTS);
  }

  /**
   * Tells whether an open file has an item's version: each version has a node of its own. Where the
   * mount does not tell the node, goes by the kernel's cached attributes, which never change for a
   * node. Two versions may show the same attributes, as those of an object that was replaced within
   * a second. Only the node tells them apart.
   */
  private boolean shows(int fd, Item item) {
    Version version = item.version();
    long node = nodeOf.applyAsLong(fd);
    if (node != 0) {
      return node == item.node();
    }
    long path = Linux.scratch().path();
    Memory.putString(path, new byte[0]);
    long statx = own.get().buffer.address();
    int flags = Linux.AT_EMPTY_PATH | STATX_DONT_SYNC;
    if (LIBC.statx(fd, path, flags, STATX_IDENTITY, statx) != 0) {
      return false;
    }
    return Memory.getLong(statx + STATX_INODE_OFFSET) == version.inode()
        && Memory.getLong(statx + STATX_SIZE_OFFSET) == version.size()
        && time(statx + STATX_MODIFIED_OFFSET) == version.modified()
        && time(statx + STATX_CHANGED_OFFSET) == version.changed();
  }

  private static long time(long at) {
    return Memory.getLong(at) * NANOS + Memory.getInt(at + 8);
  }

  private static long pages(long length) {
    return (length + Linux.PAGE_SIZE - 1L) / Linux.PAGE_SIZE;
  }

  /**
   * Drops the pages of a range, in several attempts: a page that is just being copied to an
   * application can be dropped only a moment later. The kernel drops whole pages only, so a range
   * that begins or ends within a page includes all of that page.
   */
  private static long drop(int fd, long offset, int length, int attempts) {
    long from = offset / Linux.PAGE_SIZE * Linux.PAGE_SIZE;
    long bytes = pages(offset + length - from) * Linux.PAGE_SIZE;
    for (int attempt = 1; ; attempt++) {
      LIBC.posix_fadvise(fd, from, bytes, Linux.POSIX_FADV_DONTNEED);
      long left = Math.max(0, Linux.cachedPages(fd, from, bytes));
      if (left == 0 || attempt == attempts) {
        return left;
      }
      LockSupport.parkNanos(DROP_PAUSE_NANOS << attempt);
    }
  }

  private int open(byte[] path) {
    int root = root();
    return root < 0 ? root : Linux.openBeneath(root, path, OPEN_FLAGS);
  }

  private int root() {
    Own mine = own.get();
    if (mine.root < 0) {
      mine.root = opener.getAsInt();
    }
    return mine.root;
  }

  /** Ends a mapping. Needs no descriptor and waits for nobody, so any thread may call it. */
  static void unmap(long address, long length) {
    NativeMemory.unmap(address, length);
  }
}
