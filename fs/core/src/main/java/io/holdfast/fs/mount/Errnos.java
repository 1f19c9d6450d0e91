package io.holdfast.fs.mount;

import io.holdfast.fs.FsError;
import jnr.constants.platform.Errno;

/** The one mapping from {@link FsError} to the errno that the kernel is told. */
public final class Errnos {
  private Errnos() {}

  /** Returns the negative error number of a failure. */
  public static int negative(FsError error) {
    Errno errno =
        switch (error) {
          case NOT_FOUND -> Errno.ENOENT;
          case NOT_DIRECTORY -> Errno.ENOTDIR;
          case IS_DIRECTORY -> Errno.EISDIR;
          case ACCESS_DENIED -> Errno.EACCES;
          case NOT_PERMITTED -> Errno.EPERM;
          case NAME_TOO_LONG -> Errno.ENAMETOOLONG;
          case SYMLINK -> Errno.ELOOP;
          case INVALID -> Errno.EINVAL;
          case NO_ATTRIBUTE -> Errno.ENODATA;
          case RANGE -> Errno.ERANGE;
          case UNSUPPORTED -> Errno.EOPNOTSUPP;
          case STALE -> Errno.ESTALE;
          case IO, TIMED_OUT, ORIGIN_SILENT, UNAVAILABLE -> Errno.EIO;
          case NO_MEMORY -> Errno.ENOMEM;
          case BUSY -> Errno.EBUSY;
        };
    return -errno.intValue();
  }
}
