package io.holdfast.fs.checkpoint;

import io.holdfast.fs.linux.Linux;
import java.io.IOException;
import jnr.constants.platform.Errno;

/**
 * A system call that failed. A file system that takes writes passes the kernel's own error numbers
 * on, because programs decide by them.
 */
public final class ErrnoException extends IOException {
  private static final long serialVersionUID = 1L;

  private final int errno;
  private final String path;

  private ErrnoException(int errno, String path, String message) {
    super(message);
    this.errno = errno;
    this.path = path;
  }

  /** Returns a failure for a reason that no system call gave. */
  public static ErrnoException of(Errno errno, String path) {
    return of(errno.intValue(), path);
  }

  /** Returns the failure of a system call. */
  public static ErrnoException of(int errno, String path) {
    return new ErrnoException(errno, path, text(path) + ": " + Linux.describe(errno));
  }

  /** Returns a failure with words of its own, behind the path unless that is the root. */
  public static ErrnoException because(Errno errno, String path, String reason) {
    String message = path.isEmpty() ? reason : text(path) + ": " + reason;
    return new ErrnoException(errno.intValue(), path, message);
  }

  /** Returns the error number, positive. */
  public int errno() {
    return errno;
  }

  /** Tells whether this is the error. */
  public boolean is(Errno which) {
    return errno == which.intValue();
  }

  /** Returns the path that the call was about, below the root; empty for the root. */
  public String path() {
    return path;
  }

  private static String text(String path) {
    return path.isEmpty() ? "the root" : FileTree.visible(path);
  }
}
