package io.holdfast.fs;

/**
 * The inode numbers of control files: the last ones of 64 bits. File systems hardly give them, and
 * opens of files that have one do not count. Other numbers with the highest bit are those of files:
 * overlayfs gives them if it joins several file systems ({@code xino}), and GlusterFS does.
 */
public final class ControlInodes {
  /** The number of the control directory: no file has it. */
  public static final long NO_FILE = -1;

  /** How many numbers there are: more than control files since the mount. */
  private static final long COUNT = 1L << 40;

  private ControlInodes() {}

  /** Returns the inode number of a control file by the number of its node. */
  public static long of(long node) {
    if (node < 0 || node >= COUNT) {
      throw new IllegalArgumentException("no node of a control file: " + node);
    }
    return ~node;
  }

  /** Tells whether an inode number is a control file's. */
  public static boolean has(long inode) {
    return inode < 0 && inode >= -COUNT;
  }
}
