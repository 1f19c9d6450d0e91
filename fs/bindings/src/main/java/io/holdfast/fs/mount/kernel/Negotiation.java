package io.holdfast.fs.mount.kernel;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Memory;

/**
 * The kernel's offer in INIT, and the part of it that the daemon takes.
 *
 * <pre>
 * fuse_init_in:  0 major u32, 4 minor u32, 8 max_readahead u32, 12 flags u32, 16 flags2 u32 (with INIT_EXT)
 * fuse_init_out: 0 major u32, 4 minor u32, 8 max_readahead u32, 12 flags u32, 16 max_background u16,
 *                18 congestion_threshold u16, 20 max_write u32, 24 time_gran u32, 28 max_pages u16, 30 map_alignment u16,
 *                32 flags2 u32, 36 max_stack_depth u32, 40 zero, to 64; 24 before 7.23
 * </pre>
 *
 * <p>The daemon does not take the kernel's request timeout (Linux 6.15): it ends the whole mount at
 * the first request that takes longer. A read may wait for as long as {@code --source-timeout}
 * says, and a listing of millions of names for as long as the store sends them. The kernel cannot
 * tell such a request from a daemon that hangs.
 *
 * @param minor minor version of the protocol that is spoken from now on
 * @param maxReadahead bytes that the kernel reads ahead
 * @param flags the flags taken; the second word is above the first
 */
record Negotiation(int minor, int maxReadahead, long flags) {
  static final int INIT_OUT = 64;
  private static final int INIT_OUT_BEFORE_23 = 24;
  private static final int MAJOR = 7;
  private static final int OLDEST = 19;
  private static final int NEWEST = 45;

  private static final long ASYNC_READ = 1;
  private static final long DO_READDIRPLUS = 1 << 13;

  /**
   * The kernel asks for attributes only if it sees that the reader wants them. It sees that if the
   * reader looks at entries between two pieces of a listing, but not if the reader reads all names
   * first.
   */
  private static final long READDIRPLUS_AUTO = 1 << 14;

  private static final long PARALLEL_DIROPS = 1 << 18;

  /** The kernel asks for access control lists, and decides by them. */
  private static final long POSIX_ACL = 1 << 20;

  private static final long ABORT_ERROR = 1 << 21;
  private static final long MAX_PAGES = 1 << 22;

  /** The kernel drops pages when it gets a notice, and not at each new attribute. */
  private static final long EXPLICIT_INVAL_DATA = 1 << 25;

  /** The message has a second word of flags: Linux 5.17. */
  private static final long INIT_EXT = 1 << 30;

  /** The kernel can send requests again that were not answered: Linux 6.9. */
  private static final long HAS_RESEND = 1L << 39;

  /**
   * The flags that the daemon takes. Without the caching of symlinks, because those of the control
   * directory lead elsewhere at each look; and without everything about writing.
   */
  private static final long WANTED =
      ASYNC_READ
          | DO_READDIRPLUS
          | READDIRPLUS_AUTO
          | PARALLEL_DIROPS
          | ABORT_ERROR
          | MAX_PAGES
          | EXPLICIT_INVAL_DATA
          | INIT_EXT
          | HAS_RESEND;

  /**
   * Linux 6.18, with which this was tried. Older kernels ask for one page of a listing at a time,
   * and attributes would take most of that page.
   */
  private static final int LISTS_AT_LENGTH = 45;

  /** The most requests in the background: the kernel's default of 12 starves readahead. */
  private static final int MAX_BACKGROUND = 128;

  private static final int CONGESTION = 96;

  /** The least that the protocol allows: nothing is written. */
  private static final int MAX_WRITE = 4096;

  /** The most pages of a request: 1 MiB. */
  private static final int PAGES = 256;

  /**
   * Reads an offer.
   *
   * @param acls whether the kernel is to decide by access control lists
   * @throws FsException if the daemon does not speak that version of the protocol
   */
  static Negotiation of(long init, boolean acls) throws FsException {
    int major = Memory.getInt(init);
    int minor = Memory.getInt(init + 4);
    if (major != MAJOR || minor < OLDEST) {
      throw new FsException(
          FsError.UNAVAILABLE,
          "the kernel speaks FUSE %d.%d: %d.%d is the oldest that will do"
              .formatted(major, minor, MAJOR, OLDEST));
    }
    long flags = Integer.toUnsignedLong(Memory.getInt(init + 12));
    if ((flags & INIT_EXT) != 0) {
      flags |= Integer.toUnsignedLong(Memory.getInt(init + 16)) << Integer.SIZE;
    }
    if (minor >= LISTS_AT_LENGTH) {
      flags &= ~READDIRPLUS_AUTO;
    }
    return new Negotiation(
        Math.min(minor, NEWEST),
        Memory.getInt(init + 8),
        flags & (acls ? WANTED | POSIX_ACL : WANTED));
  }

  /** Writes the answer; returns its length. */
  int write(long to) {
    Memory.clear(to, INIT_OUT);
    Memory.putInt(to, MAJOR);
    Memory.putInt(to + 4, minor);
    Memory.putInt(to + 8, maxReadahead);
    Memory.putInt(to + 12, (int) flags);
    Memory.putShort(to + 16, MAX_BACKGROUND);
    Memory.putShort(to + 18, CONGESTION);
    Memory.putInt(to + 20, MAX_WRITE);
    Memory.putInt(to + 24, 1);
    Memory.putShort(to + 28, (flags & MAX_PAGES) == 0 ? 0 : PAGES);
    Memory.putInt(to + 32, (int) (flags >>> Integer.SIZE));
    return minor < 23 ? INIT_OUT_BEFORE_23 : INIT_OUT;
  }

  /** Tells whether the kernel decides by access control lists. */
  boolean decidesByAcls() {
    return (flags & POSIX_ACL) != 0;
  }

  /** Tells whether the kernel can send requests again that were not answered. */
  boolean canResend() {
    return (flags & HAS_RESEND) != 0;
  }

  /**
   * Tells whether the kernel can be given bytes that end within a page: it was seen to clear the
   * rest of the page. Kernels before 6.11 leave the rest as it was, and every process that maps the
   * file sees it.
   */
  boolean clearsWhatFollows() {
    return minor >= 45;
  }

  /**
   * Tells whether the kernel asks for attributes of entries only if it sees that the reader wants
   * them.
   */
  boolean choosesWhoLooks() {
    return (flags & READDIRPLUS_AUTO) != 0;
  }

  /** Tells whether the kernel opens directories by itself once it is told to (Linux 5.1). */
  boolean opensDirectories() {
    return minor >= 29;
  }
}
