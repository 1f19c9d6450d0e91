package io.holdfast.fs.accelerator;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.NativeMemory;
import io.holdfast.fs.linux.Scratch;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The files of a dataset below a directory: a mount, or its source. Files are read as programs read
 * them, through the page cache. Where the page cache must not help, the kernel drops a file's pages
 * before and after it is read; O_DIRECT would do without read-ahead, which no training does.
 * Thread-safe.
 */
final class DirectoryStorage implements Storage {
  /** A larger part than that makes no difference: the kernel reads ahead. */
  private static final int PART = 256 * 1024;

  private static final int FLAGS =
      Linux.O_RDONLY | Linux.O_CLOEXEC | Linux.O_NOFOLLOW | Linux.O_NONBLOCK;

  private final Path root;
  private final DatasetFiles files;
  private final boolean cold;

  /**
   * Creates a storage, which opens nothing yet.
   *
   * @param cold whether the page cache must not help
   */
  DirectoryStorage(Path root, DatasetFiles files, boolean cold) {
    this.root = root;
    this.files = files;
    this.cold = cold;
  }

  @Override
  public int files() {
    return files.count();
  }

  @Override
  public long samples(int file) {
    return files.samples(file);
  }

  @Override
  public Reader reader() throws IOException {
    long buffer = NativeMemory.allocate(PART);
    if (buffer == 0) {
      throw new IOException("no memory for a reader: give fewer --accelerators or --workers");
    }
    return new FileReader(buffer);
  }

  /** Has the kernel drop the pages of a file; does nothing if it cannot be opened. */
  void forget(int file) {
    try {
      int fd = open(file);
      drop(fd);
      LIBC.close(fd);
    } catch (IOException e) {
      // who reads it is told
    }
  }

  private static void drop(int fd) {
    LIBC.posix_fadvise(fd, 0, 0, Linux.POSIX_FADV_DONTNEED);
  }

  private Path path(int file) {
    return root.resolve(files.name(file));
  }

  private int open(int file) throws IOException {
    byte[] path = Linux.pathBytes(path(file).toString());
    if (path.length > Scratch.PATH_CAPACITY) {
      throw new IOException(path(file) + ": the path is too long");
    }
    Scratch scratch = Linux.scratch();
    Memory.putString(scratch.path(), path);
    int fd = LIBC.openat(Linux.AT_FDCWD, scratch.path(), FLAGS, 0);
    if (fd < 0) {
      throw Linux.failure(Linux.errno(), path(file).toString());
    }
    return fd;
  }

  /** Keeps a file open from one of its samples to the next. */
  private final class FileReader implements Reader {
    private final long buffer;
    private int fd = -1;
    private int current = -1;

    FileReader(long buffer) {
      this.buffer = buffer;
    }

    @Override
    public long read(int file, long sample, Window window) throws IOException {
      if (file != current) {
        leave();
        enter(file);
      }
      long length = files.sampleBytes(file);
      long bytes = read(sample * length, length, window);
      if (sample == files.samples(file) - 1) {
        leave();
      }
      return bytes;
    }

    private void enter(int file) throws IOException {
      fd = open(file);
      current = file;
      dropIfCold();
    }

    private void leave() {
      if (fd >= 0) {
        dropIfCold();
        LIBC.close(fd);
        fd = -1;
        current = -1;
      }
    }

    private void dropIfCold() {
      if (cold) {
        drop(fd);
      }
    }

    private long read(long offset, long length, Window window) throws IOException {
      long done = 0;
      while (done < length && !window.isOver()) {
        long n = LIBC.pread(fd, buffer, Math.min(PART, length - done), offset + done);
        if (n > 0) {
          done += n;
        } else if (n == 0) {
          throw new IOException(
              path(current) + " is shorter than it was: let nobody change the dataset meanwhile");
        } else {
          throw Linux.failure(Linux.errno(), path(current).toString());
        }
      }
      return done;
    }

    @Override
    public void close() {
      leave();
      NativeMemory.free(buffer, PART);
    }
  }
}
