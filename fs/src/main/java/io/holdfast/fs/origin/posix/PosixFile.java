package io.holdfast.fs.origin.posix;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.OriginFile;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;

/** A file of a {@link PosixOrigin}, open. */
final class PosixFile implements OriginFile {
  private final OriginPath path;
  private final int fd;
  private final boolean heldInMemory;

  PosixFile(OriginPath path, int fd, boolean heldInMemory) {
    this.path = path;
    this.fd = fd;
    this.heldInMemory = heldInMemory;
  }

  @Override
  public Version version() throws FsException {
    int errno = Statx.call(fd);
    if (errno != 0) {
      throw Linux.failure(errno, path.toString());
    }
    Attributes attributes = Statx.attributes();
    if (!attributes.isRegular()) {
      throw new FsException(FsError.STALE, path + ": no regular file any more");
    }
    return attributes.version();
  }

  @Override
  public int read(long offset, long address, int length) throws FsException {
    int done = 0;
    while (done < length) {
      long count = LIBC.pread(fd, address + done, length - done, offset + done);
      if (count < 0) {
        throw Linux.failure(Linux.errno(), path.toString());
      }
      if (count == 0) {
        break;
      }
      done += (int) count;
    }
    return done;
  }

  @Override
  public void discard(long offset, long length) {
    if (!heldInMemory) {
      LIBC.posix_fadvise(fd, offset, length, Linux.POSIX_FADV_DONTNEED);
    }
  }

  @Override
  public void close() {
    LIBC.close(fd);
  }
}
